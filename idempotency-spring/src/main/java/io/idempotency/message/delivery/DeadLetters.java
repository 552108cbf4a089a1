package io.idempotency.message.delivery;

import io.idempotency.Internal;

import org.springframework.messaging.converter.MessageConversionException;

/**
 * Makes the exception for a message that no further delivery can help. Kafka's and
 * RabbitMQ's error handlers know this type and do not retry it.
 * <p>
 * A class of its own, because event listeners need no spring-messaging.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class DeadLetters {

	private DeadLetters() {
	}

	public static RuntimeException of(RuntimeException refusal) {
		return new MessageConversionException(String.valueOf(refusal.getMessage()), refusal);
	}

}
