package io.idempotency.messaging;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * The kinds of listeners. Each is found by the names of its annotations, because the
 * classes of a broker are optional. The names of the constants are part of stored keys:
 * never rename a constant.
 */
enum ListenerKind {

	/** A listener of a Kafka topic. */
	KAFKA("a Kafka listener", List.of("org.springframework.kafka.annotation.KafkaListener",
			"org.springframework.kafka.annotation.KafkaHandler", "org.springframework.kafka.annotation.DltHandler"),
			"ConsumerRecord<String, Order> record",
			"Set header = \"…\" if producers send a key, key = \"#event.id\" for a key in the payload, or "
					+ "key = \"messageId()\", which is topic, partition and offset: it identifies a record that the "
					+ "broker delivers twice, but not one that the producer sent twice"),

	/** A listener of a RabbitMQ queue. */
	RABBIT("a RabbitMQ listener",
			List.of("org.springframework.amqp.rabbit.annotation.RabbitListener",
					"org.springframework.amqp.rabbit.annotation.RabbitHandler"),
			"Message message of Spring AMQP, beside the payload",
			"Set header = \"…\" if publishers send a key, key = \"#event.id\" for a key in the payload, or "
					+ "key = \"messageId()\" if publishers set the message id, which Spring's template does only if its "
					+ "converter has createMessageIds"),

	/** A listener of a JMS queue or topic. */
	JMS("a JMS listener", List.of("org.springframework.jms.annotation.JmsListener"), "jakarta.jms.Message message",
			"Set header = \"…\" if senders set a property with a key, key = \"#event.id\" for a key in the payload, or "
					+ "key = \"messageId()\": it identifies a message that the broker delivers twice, but not one that "
					+ "the sender sent twice");

	private final String description;

	private final List<String> annotations;

	private final String parameter;

	private final String advice;

	ListenerKind(String description, List<String> annotations, String parameter, String advice) {
		this.description = description;
		this.annotations = annotations;
		this.parameter = parameter;
		this.advice = advice;
	}

	/**
	 * Returns the kind of a method.
	 * @return the kind, {@code null} if the method is not a listener
	 */
	static @Nullable ListenerKind of(Method method) {
		MergedAnnotations present = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		for (ListenerKind kind : values()) {
			if (kind.annotations.stream().anyMatch(present::isPresent)) {
				return kind;
			}
		}
		return null;
	}

	/** Returns the annotation that names the topic or queue. */
	String annotation() {
		return this.annotations.get(0);
	}

	/** Returns an example of a parameter that holds the message. */
	String parameter() {
		return this.parameter;
	}

	/** Returns the action for a method whose annotation does not name a key. */
	String advice() {
		return this.advice;
	}

	@Override
	public String toString() {
		return this.description;
	}

}
