package io.idempotency.messaging;

import java.lang.reflect.Method;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;

/**
 * A guarded listener method.
 *
 * @param parameter the parameter that holds the message, {@code null} if there is none
 * @param queue the only queue that the annotation names, {@code null} if it names several
 * queues, or none that is known at startup
 */
record GuardedListener(IdempotentOperation operation, ListenerKind kind, @Nullable MessageParameter parameter,
		@Nullable String queue) {

	/**
	 * Returns the listener of an operation.
	 * @return the listener, {@code null} if the method is not a listener
	 */
	static @Nullable GuardedListener of(IdempotentOperation operation, QueueNameReader queues) {
		Method method = operation.guarded().method();
		ListenerKind kind = ListenerKind.of(method);
		return (kind != null)
				? new GuardedListener(operation, kind, MessageParameter.of(method), queues.read(kind, operation))
				: null;
	}

	/**
	 * Returns the message.
	 * @param repeats whether the container repeats the messages of a topic
	 */
	ReceivedMessage message(@Nullable Object[] arguments, Predicate<String> repeats) {
		return (this.parameter != null) ? this.parameter.read(arguments, repeats) : SpringMessage.UNKNOWN;
	}

	/**
	 * Returns the owner of the key of a message. Each consumer group and each queue
	 * receives every message, so a message that one of them processed is new to the
	 * others.
	 * @param consumerGroup supplies the Kafka consumer group
	 */
	Caller caller(ReceivedMessage message, Supplier<@Nullable String> consumerGroup) {
		String name = (this.kind == ListenerKind.KAFKA) ? consumerGroup.get()
				: (this.queue != null) ? this.queue : message.queue();
		return (name != null) ? Caller.scope(this.kind.name() + ":" + name) : Caller.GLOBAL;
	}

}
