package io.idempotency.message;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.MethodDoor;
import io.idempotency.aop.OperationCall;
import io.idempotency.aop.OperationDoor;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;

/**
 * The door of methods that listen to messages or events. The method door guards the call;
 * this door gives it the values of the message, and says the outcome in the way that a
 * broker understands. Thread-safe.
 * <p>
 * The key belongs to the consumer group (Kafka), the queue (RabbitMQ, JMS) or the
 * subscription (JMS), unless the annotation has a scope. For an event, the default is
 * that of other methods. A duplicate of a call that has succeeded is skipped: the method
 * does not run, and the message is acknowledged. {@link Refusals} decides what becomes of
 * a message whose call is refused.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class ListenerDoor implements OperationDoor {

	private final MethodDoor methods;

	private final ListenerSources sources;

	private final SingletonSupplier<KafkaConsumers> kafka;

	private final SingletonSupplier<RabbitConsumers> rabbit;

	private final Map<MethodClassKey, Listener> listeners = new ConcurrentHashMap<>();

	/**
	 * Creates the door.
	 * @param methods guards the calls
	 * @param beanFactory has the containers of listeners, and replaces placeholders in
	 * the names of queues
	 */
	public ListenerDoor(MethodDoor methods, ConfigurableBeanFactory beanFactory) {
		this.methods = methods;
		this.sources = new ListenerSources(beanFactory::resolveEmbeddedValue);
		// Made at the first message, because their classes need those of the broker.
		this.kafka = SingletonSupplier.of(() -> new KafkaConsumers(beanFactory));
		this.rabbit = SingletonSupplier.of(() -> new RabbitConsumers(beanFactory));
	}

	@Override
	public boolean covers(Method method, Class<?> targetClass) {
		return false;
	}

	@Override
	public @Nullable String adviceForKey(Method method, Class<?> targetClass) {
		ListenerKind kind = ListenerKind.of(method);
		return (kind != null) ? "It is " + kind + ". " + kind.advice() : null;
	}

	@Override
	public void check(IdempotentOperation operation) {
		Listener listener = Listener.of(operation, this.sources);
		ListenerCheck.check(operation, listener);
		if (listener != null) {
			this.listeners.put(key(operation), listener);
		}
	}

	@Override
	public boolean opens(OperationCall call) {
		return !this.listeners.isEmpty() && this.listeners.containsKey(key(call.operation()));
	}

	@Override
	public @Nullable Object enter(OperationCall call) throws Throwable {
		Listener listener = Objects.requireNonNull(this.listeners.get(key(call.operation())), "No listener");
		if (!listener.kind().hasBroker()) {
			return enterForEvent(call);
		}
		ReceivedMessage message = listener.message(call.arguments());
		MessageValues values = new MessageValues(call.operation().name(), message);
		Object answer;
		try {
			answer = this.methods.enter(call, values,
					() -> listener.caller(message, () -> this.kafka.obtain().group()));
		}
		catch (IdempotencyException ex) {
			Refusals refusals = new Refusals(call);
			if (!refusals.isDuplicate(ex)) {
				throw refusals.forBroker(ex);
			}
			acknowledge(listener, message, call);
			return refusals.nothing();
		}
		if (!call.hasRun()) {
			acknowledge(listener, message, call);
		}
		return answer;
	}

	/** An event has no broker: what is thrown reaches its publisher. */
	private @Nullable Object enterForEvent(OperationCall call) throws Throwable {
		try {
			return this.methods.enter(call);
		}
		catch (IdempotencyException ex) {
			Refusals refusals = new Refusals(call);
			if (refusals.isDuplicate(ex)) {
				return refusals.nothing();
			}
			throw ex;
		}
	}

	/**
	 * Acknowledges a message that was skipped, if that is up to the listener: nobody else
	 * would, and the broker would deliver the message for ever.
	 */
	private void acknowledge(Listener listener, ReceivedMessage message, OperationCall call) throws IOException {
		switch (listener.kind()) {
			case KAFKA -> this.kafka.obtain().acknowledge(call.arguments());
			case RABBIT -> this.rabbit.obtain()
				.acknowledge((listener.source() != null) ? listener.source() : message.source(), call);
			case JMS, EVENT -> {
				// The container of JMS acknowledges when the listener returns.
			}
		}
	}

	private static MethodClassKey key(IdempotentOperation operation) {
		return new MethodClassKey(operation.method(), operation.targetClass());
	}

	/** Comes before the method door, which takes every call. */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE - 1;
	}

}
