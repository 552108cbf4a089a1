package io.idempotency.message;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.message.delivery.ReceivedMessage;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

import org.springframework.kafka.support.KafkaHeaders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The id of a message of Kafka that has come over another topic. */
class MessageIdTests {

	@Test
	void recordOfARetryTopicHasTheIdOfTheFirstOne() {
		assertThat(idOf(KafkaRecord.of(record("orders".getBytes(StandardCharsets.UTF_8))))).isEqualTo("orders-1-7");
		assertThat(idOf(SpringMessage.of(headers("orders".getBytes(StandardCharsets.UTF_8))))).isEqualTo("orders-1-7");
	}

	/** Two topics would be one if what is no UTF-8 were replaced. */
	@Test
	void topicsThatDifferInBytesThatAreNoTextAreTwo() {
		byte[] one = { 'o', (byte) 0xFF };
		byte[] other = { 'o', (byte) 0xFE };
		assertThat(idOf(KafkaRecord.of(record(one)))).isNotEqualTo(idOf(KafkaRecord.of(record(other))));
		assertThat(idOf(SpringMessage.of(headers(one)))).isNotEqualTo(idOf(SpringMessage.of(headers(other))))
			.isEqualTo(idOf(KafkaRecord.of(record(one))));
	}

	@Test
	void headerThatIsNoTextIsNoKey() {
		ConsumerRecord<String, String> record = record(new byte[0]);
		record.headers().add("Idempotency-Key", new byte[] { 'o', (byte) 0xFF });
		assertThatExceptionOfType(IdempotencyKeyInvalidException.class)
			.isThrownBy(() -> new MessageValues("orders", KafkaRecord.of(record)).header("Idempotency-Key"))
			.withMessageContaining("no UTF-8");
	}

	private static String idOf(ReceivedMessage message) {
		return new MessageValues("orders", message).messageId();
	}

	private static ConsumerRecord<String, String> record(byte[] topic) {
		ConsumerRecord<String, String> record = new ConsumerRecord<>("orders-retry", 0, 0, "key", "value");
		record.headers()
			.add(KafkaHeaders.ORIGINAL_TOPIC, topic)
			.add(KafkaHeaders.ORIGINAL_PARTITION, ByteBuffer.allocate(4).putInt(1).array())
			.add(KafkaHeaders.ORIGINAL_OFFSET, ByteBuffer.allocate(8).putLong(7).array());
		return record;
	}

	private static Map<String, Object> headers(byte[] topic) {
		return Map.of(KafkaHeaders.RECEIVED_TOPIC, "orders-retry", KafkaHeaders.RECEIVED_PARTITION, 0,
				KafkaHeaders.OFFSET, 0L, KafkaHeaders.ORIGINAL_TOPIC, topic, KafkaHeaders.ORIGINAL_PARTITION,
				ByteBuffer.allocate(4).putInt(1).array(), KafkaHeaders.ORIGINAL_OFFSET,
				ByteBuffer.allocate(8).putLong(7).array());
	}

}
