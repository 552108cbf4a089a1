package io.idempotency.message;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * The kinds of listeners. Each is known by the names of its annotations, because the
 * classes of a broker may be absent. The names of the constants are part of stored keys:
 * never rename a constant.
 */
enum ListenerKind {

	/** A listener of a Kafka topic. */
	KAFKA("a Kafka listener", List.of("org.springframework.kafka.annotation.KafkaListener",
			"org.springframework.kafka.annotation.KafkaHandler", "org.springframework.kafka.annotation.DltHandler"),
			"Set header = \"…\" if producers send a key, key = \"#event.id\" for a key in the payload, or "
					+ "key = \"messageId()\", which is topic, partition and offset: it knows a record that the broker "
					+ "delivers twice, but not one that the producer sent twice"),

	/** A listener of a RabbitMQ queue. */
	RABBIT("a RabbitMQ listener",
			List.of("org.springframework.amqp.rabbit.annotation.RabbitListener",
					"org.springframework.amqp.rabbit.annotation.RabbitHandler"),
			"Set header = \"…\" if publishers send a key, key = \"#event.id\" for a key in the payload, or "
					+ "key = \"messageId()\" if publishers set the message id, which Spring's template does only if its "
					+ "converter has createMessageIds"),

	/** A listener of a JMS queue or topic. */
	JMS("a JMS listener", List.of("org.springframework.jms.annotation.JmsListener"),
			"Set header = \"…\" if senders set a property with a key, key = \"#event.id\" for a key in the payload, or "
					+ "key = \"messageId()\": it knows a message that the broker delivers twice, but not one that the "
					+ "sender sent twice"),

	/** A listener of events inside the application. */
	EVENT("an event listener", List.of("org.springframework.context.event.EventListener"),
			"Set key = \"#event.id\" to what is the same when this event is published again; an event has no header "
					+ "and no message id");

	private final String description;

	private final List<String> annotations;

	private final String advice;

	ListenerKind(String description, List<String> annotations, String advice) {
		this.description = description;
		this.annotations = annotations;
		this.advice = advice;
	}

	/**
	 * Returns the kind of a method.
	 * @return the kind, {@code null} if the method is no listener
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

	/** Returns the annotation that names what the listener listens to. */
	String annotation() {
		return this.annotations.get(0);
	}

	/** Returns what to write on a method that does not say where the key comes from. */
	String advice() {
		return this.advice;
	}

	/** Returns whether a broker delivers the messages, and delivers them again. */
	boolean hasBroker() {
		return this != EVENT;
	}

	@Override
	public String toString() {
		return this.description;
	}

}
