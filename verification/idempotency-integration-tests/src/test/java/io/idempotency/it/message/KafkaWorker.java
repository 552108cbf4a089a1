package io.idempotency.it.message;

import java.util.Map;

import io.idempotency.Idempotent;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;

/**
 * A consumer of Kafka in a JVM of its own, which is to be killed in the middle of a
 * message.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableKafka
@Import({ WorkerStoreConfiguration.class, WorkerTask.class, KafkaWorker.Listeners.class })
class KafkaWorker {

	public static void main(String[] args) {
		new SpringApplicationBuilder(KafkaWorker.class).web(WebApplicationType.NONE).run(args);
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(
			@Value("${test.broker}") String brokers) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
		factory.setConsumerFactory(new DefaultKafkaConsumerFactory<>(
				Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers, ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
						"earliest", ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 3_000,
						ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 500),
				new StringDeserializer(), new StringDeserializer()));
		return factory;
	}

	static class Listeners {

		private final WorkerTask task;

		Listeners(WorkerTask task) {
			this.task = task;
		}

		@KafkaListener(topics = "${test.queue}", groupId = "${test.queue}")
		@Idempotent(key = "#payload", lease = "5s")
		public void on(String payload) throws InterruptedException {
			this.task.work(payload);
		}

		@KafkaListener(topics = "${test.queue}" + WorkerBroker.KEPT, groupId = "${test.queue}" + WorkerBroker.KEPT)
		@Idempotent(key = "#payload", lease = "5s", recover = "find")
		public void onKept(String payload) throws InterruptedException {
			this.task.workThatIsKept(payload);
		}

		public @Nullable String find(String payload) {
			return this.task.find(payload);
		}

	}

}
