package io.idempotency.message;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.idempotency.message.delivery.ReceivedMessage;
import org.jspecify.annotations.Nullable;

import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;

/**
 * A message of any broker, in the form that Spring gives to listeners. It has no class of
 * a broker: the names of the headers are the contract.
 */
final class SpringMessage implements ReceivedMessage {

	/** Stands for the payload of a record of Kafka that has no value. */
	private static final String KAFKA_NULL = "org.springframework.kafka.support.KafkaNull";

	private final Map<String, Object> headers;

	private final @Nullable Object payload;

	private final Predicate<String> repeats;

	private SpringMessage(Map<String, Object> headers, @Nullable Object payload, Predicate<String> repeats) {
		this.headers = headers;
		this.payload = payload;
		this.repeats = repeats;
	}

	@SuppressWarnings("unchecked")
	static SpringMessage of(Object argument, Predicate<String> repeats) {
		return (argument instanceof Message<?> message)
				? new SpringMessage(message.getHeaders(), payload(message), repeats)
				: new SpringMessage((Map<String, Object>) argument, null, repeats);
	}

	private static @Nullable Object payload(Message<?> message) {
		Object payload = message.getPayload();
		return payload.getClass().getName().equals(KAFKA_NULL) ? null : payload;
	}

	@Override
	public @Nullable Object payload() {
		return this.payload;
	}

	/**
	 * Returns whether Spring puts a value of its own, which is new in each delivery, in
	 * the place of a header.
	 */
	static boolean isReplaced(String name) {
		return name.equalsIgnoreCase(MessageHeaders.ID) || name.equalsIgnoreCase(MessageHeaders.TIMESTAMP);
	}

	@Override
	public List<Object> headers(String name) {
		return isReplaced(name) ? List.of() : HeaderMap.values(this.headers, name);
	}

	@Override
	public @Nullable String id() {
		if (this.headers.get("kafka_receivedTopic") instanceof String topic
				&& this.headers.get("kafka_receivedPartitionId") instanceof Integer partition
				&& this.headers.get("kafka_offset") instanceof Long offset) {
			return KafkaMessageId.of(this, this.repeats, topic, partition, offset);
		}
		Object id = this.headers.getOrDefault("amqp_messageId", this.headers.get("jms_messageId"));
		return (id != null) ? id.toString() : null;
	}

	@Override
	public @Nullable String source() {
		if (this.headers.get("amqp_consumerQueue") instanceof String queue) {
			return queue;
		}
		Object destination = this.headers.get("jms_destination");
		return (destination != null) ? JmsMessage.name(destination) : null;
	}

}
