package io.idempotency.messaging;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;

/**
 * A message of any broker in the form of Spring Messaging. It uses the names of the
 * headers and no class of a broker.
 */
record SpringMessage(Map<String, Object> headers, @Nullable Object payload,
		Predicate<String> repeats) implements ReceivedMessage {

	/** The message of a listener without a parameter that holds it. */
	static final SpringMessage UNKNOWN = new SpringMessage(Map.of(), null, (topic) -> false);

	/** The payload of a Kafka record without a value. */
	private static final String KAFKA_NULL = "org.springframework.kafka.support.KafkaNull";

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

	/** Returns whether Spring replaces a header by a new value in each delivery. */
	static boolean isReplaced(String name) {
		return name.equalsIgnoreCase(MessageHeaders.ID) || name.equalsIgnoreCase(MessageHeaders.TIMESTAMP);
	}

	@Override
	public List<Object> headers(String name) {
		return isReplaced(name) ? List.of() : values(this.headers, name);
	}

	/** Returns the values of a header, whose name may be in any case. */
	static List<Object> values(Map<String, ? extends @Nullable Object> headers, String name) {
		return headers.entrySet()
			.stream()
			.filter((header) -> header.getKey().equalsIgnoreCase(name))
			.map(Map.Entry::getValue)
			.filter(Objects::nonNull)
			.<Object>flatMap((value) -> (value instanceof Collection<?> several)
					? several.stream().filter(Objects::nonNull) : Stream.of(value))
			.toList();
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
	public @Nullable String queue() {
		if (this.headers.get("amqp_consumerQueue") instanceof String queue) {
			return queue;
		}
		Object destination = this.headers.get("jms_destination");
		return (destination != null) ? JmsMessage.name(destination) : null;
	}

}
