package io.idempotency.message;

import java.lang.reflect.Method;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.idempotency.aop.IdempotentOperation;
import io.idempotency.key.Caller;
import io.idempotency.message.delivery.ReceivedMessage;
import org.jspecify.annotations.Nullable;

/**
 * One guarded listener method.
 *
 * @param carrier the parameter that holds the message, {@code null} if there is none
 * @param source the only source that the annotation names, {@code null} if it names
 * several, or none that is known at start-up
 */
record Listener(IdempotentOperation operation, ListenerKind kind, @Nullable MessageCarrier carrier,
		@Nullable String source) {

	/**
	 * Returns the listener of an operation.
	 * @return the listener, {@code null} if the method is none
	 */
	static @Nullable Listener of(IdempotentOperation operation, ListenerSourceReader sources) {
		Method method = operation.guarded().method();
		ListenerKind kind = ListenerKind.of(method);
		return (kind != null) ? new Listener(operation, kind, MessageCarrier.of(method), sources.of(kind, operation))
				: null;
	}

	/**
	 * Returns the message.
	 * @param repeats whether the container repeats the messages of a topic
	 */
	ReceivedMessage message(@Nullable Object[] arguments, Predicate<String> repeats) {
		return (this.carrier != null) ? this.carrier.read(arguments, repeats) : ReceivedMessage.UNKNOWN;
	}

	/**
	 * Returns the owner of the key of a message. Each consumer group and each queue gets
	 * every message for itself, so a message that one of them has processed is new to the
	 * others.
	 * @param consumerGroup tells the consumer group of Kafka
	 */
	Caller caller(ReceivedMessage message, Supplier<@Nullable String> consumerGroup) {
		String name = switch (this.kind) {
			case KAFKA -> consumerGroup.get();
			case RABBIT, JMS -> (this.source != null) ? this.source : message.source();
			case EVENT -> null;
		};
		return (name != null) ? Caller.scope(this.kind.name() + ":" + name) : Caller.GLOBAL;
	}

}
