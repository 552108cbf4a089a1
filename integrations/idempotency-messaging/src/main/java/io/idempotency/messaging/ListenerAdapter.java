package io.idempotency.messaging;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.engine.AsyncResults;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.InvocationAdapter;
import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.OperationTraits.Flag;
import io.idempotency.interceptor.OperationTraits;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.MethodClassKey;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Guards Kafka, RabbitMQ and JMS listeners. The method adapter guards the call; this
 * adapter supplies the values of the message, and acknowledges, returns or rejects the
 * message. Thread-safe.
 * <p>
 * The key belongs to the consumer group (Kafka), the queue (RabbitMQ, JMS) or the
 * subscription (JMS), unless the annotation has a scope.
 *
 * <table>
 * <caption>Rejections</caption>
 * <tr>
 * <td>the call was completed before, and its method returns nothing</td>
 * <td>skipped and acknowledged</td>
 * </tr>
 * <tr>
 * <td>the call was completed before, but its result is not stored; the key is missing,
 * invalid or was used for another message</td>
 * <td>a dead letter: another delivery cannot succeed</td>
 * </tr>
 * <tr>
 * <td>the first call is in progress, its outcome is unknown, or the store is
 * unavailable</td>
 * <td>delivered again</td>
 * </tr>
 * </table>
 *
 * An exception of another guarded method, which the listener called, is a failure of the
 * listener.
 */
final class ListenerAdapter implements InvocationAdapter, SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(ListenerAdapter.class);

	/** The arguments that the containers supply, by name, because each is optional. */
	private static final Set<String> SUPPLIED = Set.of("org.springframework.kafka.support.Acknowledgment",
			"org.springframework.kafka.listener.adapter.ConsumerRecordMetadata",
			"org.apache.kafka.clients.consumer.Consumer", "org.springframework.amqp.core.MessageProperties",
			"com.rabbitmq.client.Channel", "jakarta.jms.Session");

	private final MethodAdapter methods;

	private final ConfigurableBeanFactory beanFactory;

	private final Map<ListenerKind, Supplier<Broker>> brokers;

	private final Map<MethodClassKey, GuardedListener> listeners = new ConcurrentHashMap<>();

	private volatile boolean running;

	/**
	 * Creates the adapter.
	 * @param methods guards the calls
	 * @param beanFactory contains the listener containers, and replaces placeholders
	 */
	ListenerAdapter(MethodAdapter methods, ConfigurableBeanFactory beanFactory) {
		this.methods = methods;
		this.beanFactory = beanFactory;
		// Created for the first listener, because they need the classes of the broker.
		this.brokers = Map.of(ListenerKind.KAFKA, SingletonSupplier.of(() -> new KafkaBroker(beanFactory)),
				ListenerKind.RABBIT, SingletonSupplier.of(() -> new RabbitBroker(beanFactory)), ListenerKind.JMS,
				SingletonSupplier.of(() -> new JmsBroker(beanFactory)));
	}

	private Broker broker(GuardedListener listener) {
		return Objects.requireNonNull(this.brokers.get(listener.kind())).get();
	}

	@Override
	public OperationTraits traits(Method method, Class<?> targetClass) {
		ListenerKind kind = ListenerKind.of(method);
		// A method that a listener calls may have these parameters, too.
		OperationTraits traits = ((kind == null) ? OperationTraits.NONE
				: (kind == ListenerKind.KAFKA) ? OperationTraits.of(Flag.KEYS)
						// The queue is a part of each key.
						: OperationTraits.of(Flag.KEYS, Flag.WAITS, Flag.BEAN_KEYS))
			.withArguments(MessageParameter.BROKER_TYPES, SUPPLIED);
		return (kind != null) ? traits.withKeyAdvice("It is " + kind + ". " + kind.advice()) : traits;
	}

	@Override
	public void check(IdempotentOperation operation) {
		GuardedListener listener = GuardedListener.of(operation, this.beanFactory::resolveEmbeddedValue);
		if (listener != null) {
			listener.check();
			this.listeners.put(key(operation), listener);
		}
	}

	/**
	 * Checks the listeners against their containers, which are created but not started.
	 */
	@Override
	public void start() {
		// Also a listener without a guard may call guarded methods.
		if (ClassUtils.isPresent("org.springframework.kafka.config.KafkaListenerEndpointRegistry",
				this.beanFactory.getBeanClassLoader())) {
			KafkaBroker.addBackOffs(this.beanFactory);
		}
		this.listeners.values().forEach((listener) -> broker(listener).check(listener));
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/** Returns a phase before those of listener containers. */
	@Override
	public int getPhase() {
		return Integer.MAX_VALUE - 1_000;
	}

	@Override
	public boolean supports(OperationCall call) {
		return !this.listeners.isEmpty() && !call.operation().result().form().isSubscribed()
				&& this.listeners.containsKey(key(call.operation()));
	}

	@Override
	public @Nullable Object invoke(OperationCall call) throws Throwable {
		GuardedListener listener = Objects.requireNonNull(this.listeners.get(key(call.operation())), "No listener");
		Broker broker = broker(listener);
		ReceivedMessage message = listener.message(call.arguments(), broker::repeats);
		Delivery delivery = broker.delivery(call, message, listener);
		call.watch(delivery);
		MessageValues values = new MessageValues(call.operation().name(), message);
		boolean async = call.operation().result().async();
		while (true) {
			Object result;
			try {
				result = this.methods.invoke(call, values, () -> listener.caller(message, broker::group));
			}
			catch (Throwable thrown) {
				if (!call.hasRun() && !isFinal(call, thrown) && delivery.waits(thrown)) {
					continue;
				}
				// A container of Spring Kafka 3.3 acknowledges a record whose future
				// failed.
				if (async && listener.kind() != ListenerKind.KAFKA) {
					return later(call, delivery, CompletableFuture.failedFuture(thrown));
				}
				Object replacement = threw(call, delivery, thrown);
				return async ? CompletableFuture.completedFuture(replacement) : replacement;
			}
			// The future of a duplicate may fail with a remembered failure.
			if (async && result instanceof CompletionStage<?> stage) {
				return later(call, delivery, stage);
			}
			returned(call, delivery);
			return result;
		}
	}

	/** Settles the message at the end of a future, before the container sees that end. */
	private static CompletableFuture<@Nullable Object> later(OperationCall call, Delivery delivery,
			CompletionStage<?> stage) {
		CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
		stage.whenComplete((value, failure) -> {
			try {
				if (failure != null) {
					result.complete(threw(call, delivery, failure));
				}
				else {
					returned(call, delivery);
					result.complete(value);
				}
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
		return result;
	}

	/**
	 * Settles the message of a call that failed or was rejected.
	 * @return the result for a container that does not need the exception
	 * @throws Throwable the exception for the container
	 */
	private static @Nullable Object threw(OperationCall call, Delivery delivery, Throwable thrown) throws Throwable {
		Throwable cause = AsyncResults.cause(thrown);
		if (cause instanceof Delivery.ReturnedException returned) {
			delivery.sendPending();
			return returned.result();
		}
		if (isDuplicate(call, cause)) {
			delivery.sendPending();
			skip(call, delivery);
			return null;
		}
		boolean deadLetter = isDeadLetter(call, cause);
		if (!deadLetter && (!call.hasRun() || delivery.hasReturned())) {
			delivery.dropPending();
			Throwable forContainer = delivery.returnMessage(cause);
			if (forContainer == null) {
				return null;
			}
			throw forContainer;
		}
		try {
			delivery.sendPending();
		}
		catch (Exception ex) {
			thrown.addSuppressed(ex);
		}
		throw deadLetter ? delivery.deadLetter((RuntimeException) cause) : thrown;
	}

	private static void returned(OperationCall call, Delivery delivery) throws Exception {
		if (call.hasRun()) {
			delivery.sendPending();
		}
		else {
			skip(call, delivery);
		}
	}

	/** Acknowledges a message that was processed before. */
	private static void skip(OperationCall call, Delivery delivery) throws Exception {
		logger.debug("Skipped a message that '{}' processed before: {}, record {}", call.operation().name(), delivery,
				call.recordId());
		if (!delivery.isSettled()) {
			delivery.acknowledge();
		}
	}

	/** Returns whether the call is a duplicate without a return value. */
	private static boolean isDuplicate(OperationCall call, Throwable thrown) {
		Type type = call.operation().result().type();
		return isRejection(call, thrown) && thrown instanceof IdempotencyResultUnavailableException
				&& (type == void.class || type == Void.class);
	}

	/** Returns whether another delivery of the message cannot succeed. */
	private static boolean isDeadLetter(OperationCall call, Throwable thrown) {
		return isRejection(call, thrown) && (thrown instanceof IdempotencyKeyMissingException
				|| thrown instanceof IdempotencyKeyInvalidException || thrown instanceof IdempotencyKeyReusedException
				|| thrown instanceof IdempotencyBodyTooLargeException
				|| thrown instanceof IdempotencyResultUnavailableException);
	}

	/** Returns whether it is useless to try the call again. */
	private static boolean isFinal(OperationCall call, Throwable thrown) {
		return thrown instanceof RememberedFailureException || isDeadLetter(call, thrown);
	}

	private static boolean isRejection(OperationCall call, Throwable thrown) {
		return thrown instanceof IdempotencyException rejection
				&& rejection.operation().equals(call.operation().name());
	}

	private static MethodClassKey key(IdempotentOperation operation) {
		return new MethodClassKey(operation.guarded().method(), operation.guarded().targetClass());
	}

	/** Comes before the adapters of events, of tools and of all methods. */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE - 3;
	}

}
