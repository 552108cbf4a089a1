package io.idempotency.samples.shop.messages;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;

@ActiveProfiles("kafka")
@DirtiesContext
class KafkaMessageTests extends MessageTests {

	@Override
	String broker() {
		return "Kafka";
	}

	@Test
	void messageWithoutAKeyIsADeadLetter(@Autowired KafkaTemplate<String, String> kafka,
			@Autowired ConsumerFactory<String, String> consumers) {
		String keyless = UUID.randomUUID().toString();
		kafka.send(OrderMessage.ORDER_PLACED, keyless).join();
		try (Consumer<String, String> deadLetters = consumers.createConsumer("dead-letters", "")) {
			List<TopicPartition> partitions = List.of(new TopicPartition(OrderMessage.ORDER_PLACED + "-dlt", 0));
			deadLetters.assign(partitions);
			deadLetters.seekToBeginning(partitions);
			List<String> received = new ArrayList<>();
			await().atMost(60, SECONDS).until(() -> {
				deadLetters.poll(Duration.ofMillis(200)).forEach((each) -> received.add(each.value()));
				return received.contains(keyless);
			});
		}
	}

}
