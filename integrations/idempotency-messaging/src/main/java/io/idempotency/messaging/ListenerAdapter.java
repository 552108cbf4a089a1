package io.idempotency.messaging;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.OperationTraits;
import io.idempotency.interceptor.OperationTraits.Flag;
import io.idempotency.interceptor.InvocationAdapter;
import io.idempotency.engine.AsyncResults;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.MethodClassKey;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;

/**
 * Guards Kafka, RabbitMQ and JMS listeners. The method adapter guards the call; this
 * adapter supplies the values of the message, and acknowledges, returns or rejects the
 * message. Thread-safe.
 * <p>
 * The key belongs to the consumer group (Kafka), the queue (RabbitMQ, JMS) or the
 * subscription (JMS), unless the annotation has a scope. {@link RejectionClassifier}
 * decides what happens to the message of a rejected call.
 */
final class ListenerAdapter implements InvocationAdapter, SmartLifecycle {

	/** The phase before those of listener containers. */
	static final int BEFORE_CONTAINERS = Integer.MAX_VALUE - 1_000;

	private static final Logger logger = LoggerFactory.getLogger(ListenerAdapter.class);

	/** The arguments that the containers supply, by name, because each is optional. */
	private static final Set<String> SUPPLIED = Set.of("org.springframework.kafka.support.Acknowledgment",
			"org.springframework.kafka.listener.adapter.ConsumerRecordMetadata",
			"org.apache.kafka.clients.consumer.Consumer", "org.springframework.amqp.core.MessageProperties",
			"com.rabbitmq.client.Channel", "jakarta.jms.Session");

	private final MethodAdapter methods;

	private final QueueNameReader queues;

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
		this.queues = new QueueNameReader(beanFactory::resolveEmbeddedValue);
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
		GuardedListener listener = GuardedListener.of(operation, this.queues);
		if (listener != null) {
			ListenerCheck.check(listener);
			this.listeners.put(key(operation), listener);
		}
	}

	/**
	 * Checks the listeners against their containers, which are created but not started.
	 */
	@Override
	public void start() {
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

	@Override
	public int getPhase() {
		return BEFORE_CONTAINERS;
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
		boolean async = call.operation().result().async();
		Object result;
		try {
			result = invoke(call, delivery, new MessageValues(call.operation().name(), message),
					() -> listener.caller(message, broker::group));
		}
		catch (Throwable thrown) {
			if (async && broker.redeliversFailedFutures()) {
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

	/** Tries while the delivery waits. */
	private @Nullable Object invoke(OperationCall call, Delivery delivery, MessageValues values,
			Supplier<Caller> caller) throws Throwable {
		while (true) {
			try {
				return this.methods.invoke(call, values, caller);
			}
			catch (Throwable thrown) {
				if (call.hasRun() || new RejectionClassifier(call).isFinal(thrown) || !delivery.waits(thrown)) {
					throw thrown;
				}
			}
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
	 * @return the result for a container that need not know
	 * @throws Throwable the exception for the container
	 */
	private static @Nullable Object threw(OperationCall call, Delivery delivery, Throwable thrown) throws Throwable {
		Throwable cause = AsyncResults.cause(thrown);
		if (cause instanceof Delivery.ReturnedException returned) {
			delivery.sendPending();
			return returned.result();
		}
		RejectionClassifier classifier = new RejectionClassifier(call);
		if (classifier.isDuplicate(cause)) {
			delivery.sendPending();
			skip(call, delivery);
			return null;
		}
		boolean deadLetter = classifier.isDeadLetter(cause);
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

	private static MethodClassKey key(IdempotentOperation operation) {
		return new MethodClassKey(operation.guarded().method(), operation.guarded().targetClass());
	}

	/** Comes before the adapters of events, of tools and of all methods. */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE - 3;
	}

}
