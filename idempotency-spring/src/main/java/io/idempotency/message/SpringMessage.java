package io.idempotency.message;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

import io.idempotency.message.delivery.ReceivedMessage;
import org.jspecify.annotations.Nullable;

import org.springframework.messaging.Message;

/**
 * A message of any broker, in the form that Spring gives to listeners. It has no class of
 * a broker: the names of the headers are the contract.
 */
final class SpringMessage implements ReceivedMessage {

	/** Stands for the payload of a record of Kafka that has no value. */
	private static final String KAFKA_NULL = "org.springframework.kafka.support.KafkaNull";

	private final Map<String, Object> headers;

	private final @Nullable Object payload;

	private SpringMessage(Map<String, Object> headers, @Nullable Object payload) {
		this.headers = headers;
		this.payload = payload;
	}

	@SuppressWarnings("unchecked")
	static SpringMessage of(Object argument) {
		return (argument instanceof Message<?> message) ? new SpringMessage(message.getHeaders(), payload(message))
				: new SpringMessage((Map<String, Object>) argument, null);
	}

	private static @Nullable Object payload(Message<?> message) {
		Object payload = message.getPayload();
		return payload.getClass().getName().equals(KAFKA_NULL) ? null : payload;
	}

	@Override
	public @Nullable Object payload() {
		return this.payload;
	}

	@Override
	public List<Object> headers(String name) {
		return HeaderMap.values(this.headers, name);
	}

	@Override
	public @Nullable String id() {
		if (this.headers.get("kafka_receivedTopic") instanceof String topic
				&& this.headers.get("kafka_receivedPartitionId") instanceof Integer partition
				&& this.headers.get("kafka_offset") instanceof Long offset) {
			return kafkaId(topic, partition, offset);
		}
		Object id = this.headers.getOrDefault("amqp_messageId", this.headers.get("jms_messageId"));
		return (id != null) ? id.toString() : null;
	}

	/** See {@link KafkaRecord#id()}. */
	private String kafkaId(String receivedTopic, int receivedPartition, long receivedOffset) {
		String topic = text(first("kafka_original-topic", "kafka_dlt-original-topic"));
		Integer partition = number(first("kafka_original-partition", "kafka_dlt-original-partition"));
		Long offset = longNumber(first("kafka_original-offset", "kafka_dlt-original-offset"));
		return (topic != null && partition != null && offset != null) ? KafkaRecord.id(topic, partition, offset)
				: KafkaRecord.id(receivedTopic, receivedPartition, receivedOffset);
	}

	@Override
	public @Nullable String source() {
		if (this.headers.get("amqp_consumerQueue") instanceof String queue) {
			return queue;
		}
		Object destination = this.headers.get("jms_destination");
		return (destination != null) ? JmsMessage.name(destination) : null;
	}

	private @Nullable Object first(String name, String otherName) {
		List<Object> values = HeaderMap.values(this.headers, name);
		if (values.isEmpty()) {
			values = HeaderMap.values(this.headers, otherName);
		}
		return values.isEmpty() ? null : values.get(0);
	}

	private static @Nullable String text(@Nullable Object value) {
		return (value instanceof byte[] bytes) ? KafkaRecord.topic(bytes)
				: (value instanceof String text) ? text : null;
	}

	private static @Nullable Integer number(@Nullable Object value) {
		if (value instanceof byte[] bytes && bytes.length == Integer.BYTES) {
			return ByteBuffer.wrap(bytes).getInt();
		}
		return (value instanceof Integer number) ? number : null;
	}

	private static @Nullable Long longNumber(@Nullable Object value) {
		if (value instanceof byte[] bytes && bytes.length == Long.BYTES) {
			return ByteBuffer.wrap(bytes).getLong();
		}
		return (value instanceof Long number) ? number : null;
	}

}
