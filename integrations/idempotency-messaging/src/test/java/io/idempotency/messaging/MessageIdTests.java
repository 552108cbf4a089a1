package io.idempotency.messaging;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.idempotency.IdempotencyKeyInvalidException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

import org.springframework.kafka.support.KafkaHeaders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The id of a message of Kafka that has come over another topic. */
class MessageIdTests {

	private static final Predicate<String> NOTHING = (topic) -> false;

	private static final Predicate<String> EVERYTHING = (topic) -> true;

	@Test
	void recordOfARetryTopicHasTheIdOfTheFirstOne() {
		byte[] orders = "orders".getBytes(StandardCharsets.UTF_8);
		for (String topic : List.of("orders-retry", "orders-retry-1000", "orders-dlt", "orders.DLT", "orders_dead",
				"orders-billing.retry-0", "orders.dead-letters", "orders.deadLetter", "orders-retry5m",
				"orders-retries", "orders.retryTopic", "orders-retryable", "orders-dlqs", "orders-deadletterqueue")) {
			assertThat(idOf(KafkaRecord.of(record(topic, orders), NOTHING))).isEqualTo("orders-1-7");
			assertThat(idOf(SpringMessage.of(headers(topic, orders), NOTHING))).isEqualTo("orders-1-7");
		}
	}

	/**
	 * Who makes a record of what it got sends its headers on, and anybody may set them.
	 */
	@Test
	void recordOfAnotherTopicHasAnIdOfItsOwn() {
		byte[] orders = "orders".getBytes(StandardCharsets.UTF_8);
		for (String topic : List.of("payments", "order", "orders", "orders-audit", "ordersretry", "orders.deadlines",
				"orders-dead-stock-list", "orders-deadly")) {
			assertThat(idOf(KafkaRecord.of(record(topic, orders), NOTHING))).isEqualTo(topic + "-0-0");
			assertThat(idOf(SpringMessage.of(headers(topic, orders), NOTHING))).isEqualTo(topic + "-0-0");
		}
	}

	@Test
	void retryTopicMayHaveAnyName() {
		byte[] orders = "orders".getBytes(StandardCharsets.UTF_8);
		assertThat(idOf(KafkaRecord.of(record("later", orders), "orders"::equals))).isEqualTo("orders-1-7");
		assertThat(idOf(SpringMessage.of(headers("later", orders), "orders"::equals))).isEqualTo("orders-1-7");
	}

	/** What was sent on before, and has failed since, has the headers of both. */
	@Test
	void firstRecordOfTheOwnTopicCounts() {
		ConsumerRecord<String, String> record = record("payments-retry-0", "orders".getBytes(StandardCharsets.UTF_8));
		original(record, "payments".getBytes(StandardCharsets.UTF_8), 2, 9);
		assertThat(idOf(KafkaRecord.of(record, NOTHING))).isEqualTo("payments-2-9");
	}

	/** Two topics would be one if what is no UTF-8 were replaced. */
	@Test
	void topicsThatDifferInBytesThatAreNoTextAreTwo() {
		byte[] one = { 'o', (byte) 0xFF };
		byte[] other = { 'o', (byte) 0xFE };
		assertThat(idOf(KafkaRecord.of(record("later", one), EVERYTHING)))
			.isNotEqualTo(idOf(KafkaRecord.of(record("later", other), EVERYTHING)));
		assertThat(idOf(SpringMessage.of(headers("later", one), EVERYTHING)))
			.isNotEqualTo(idOf(SpringMessage.of(headers("later", other), EVERYTHING)))
			.isEqualTo(idOf(KafkaRecord.of(record("later", one), EVERYTHING)));
	}

	@Test
	void headerThatIsNoTextIsNoKey() {
		ConsumerRecord<String, String> record = record("orders", new byte[0]);
		record.headers().add("Idempotency-Key", new byte[] { 'o', (byte) 0xFF });
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
			.isThrownBy(() -> new MessageValues("orders", KafkaRecord.of(record, NOTHING)).header("Idempotency-Key"))
			.withMessageContaining("not valid UTF-8");
	}

	private static String idOf(ReceivedMessage message) {
		return new MessageValues("orders", message).messageId();
	}

	private static ConsumerRecord<String, String> record(String topic, byte[] first) {
		ConsumerRecord<String, String> record = new ConsumerRecord<>(topic, 0, 0, "key", "value");
		original(record, first, 1, 7);
		return record;
	}

	private static void original(ConsumerRecord<?, ?> record, byte[] topic, int partition, long offset) {
		record.headers()
			.add(KafkaHeaders.ORIGINAL_TOPIC, topic)
			.add(KafkaHeaders.ORIGINAL_PARTITION, ByteBuffer.allocate(4).putInt(partition).array())
			.add(KafkaHeaders.ORIGINAL_OFFSET, ByteBuffer.allocate(8).putLong(offset).array());
	}

	private static Map<String, Object> headers(String topic, byte[] first) {
		return Map.of(KafkaHeaders.RECEIVED_TOPIC, topic, KafkaHeaders.RECEIVED_PARTITION, 0, KafkaHeaders.OFFSET, 0L,
				KafkaHeaders.ORIGINAL_TOPIC, first, KafkaHeaders.ORIGINAL_PARTITION,
				ByteBuffer.allocate(4).putInt(1).array(), KafkaHeaders.ORIGINAL_OFFSET,
				ByteBuffer.allocate(8).putLong(7).array());
	}

}
