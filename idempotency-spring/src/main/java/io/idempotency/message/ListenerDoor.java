package io.idempotency.message;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.MethodDoor;
import io.idempotency.aop.OperationCall;
import io.idempotency.aop.OperationDoor;
import io.idempotency.engine.AsyncResults;
import io.idempotency.key.Caller;
import io.idempotency.message.delivery.Broker;
import io.idempotency.message.delivery.Delivery;
import io.idempotency.message.delivery.ReceivedMessage;
import io.idempotency.message.jms.JmsBroker;
import io.idempotency.message.kafka.KafkaBroker;
import io.idempotency.message.rabbit.RabbitBroker;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.SmartLifecycle;
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
 * does not run, and the message is acknowledged. {@link RefusalMeaning} decides what
 * becomes of a message whose call is refused.
 *
 * @hidden
 */
@Internal
public final class ListenerDoor implements OperationDoor, SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(ListenerDoor.class);

	private final MethodDoor methodDoor;

	private final ListenerSourceReader sourceReader;

	private final Map<ListenerKind, Supplier<Broker>> brokers;

	private final Map<MethodClassKey, Listener> listeners = new ConcurrentHashMap<>();

	private volatile boolean running;

	/**
	 * Creates the door.
	 * @param methodDoor guards the calls
	 * @param beanFactory has the containers of listeners, and replaces placeholders in
	 * the names of queues
	 */
	public ListenerDoor(MethodDoor methodDoor, ConfigurableBeanFactory beanFactory) {
		this.methodDoor = methodDoor;
		this.sourceReader = new ListenerSourceReader(beanFactory::resolveEmbeddedValue);
		// Made for the first listener, because their classes need those of the broker.
		this.brokers = Map.of(ListenerKind.KAFKA, SingletonSupplier.of(() -> new KafkaBroker(beanFactory)),
				ListenerKind.RABBIT, SingletonSupplier.of(() -> new RabbitBroker(beanFactory)), ListenerKind.JMS,
				SingletonSupplier.of(() -> new JmsBroker(beanFactory)));
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
	public boolean hasKeys(Method method, Class<?> targetClass) {
		ListenerKind kind = ListenerKind.of(method);
		return kind != null && kind.hasBroker();
	}

	@Override
	public boolean waits(Method method, Class<?> targetClass) {
		ListenerKind kind = ListenerKind.of(method);
		return kind == ListenerKind.RABBIT || kind == ListenerKind.JMS;
	}

	/** The queue is a part of each key. */
	@Override
	public boolean tellsBeansApart(Method method, Class<?> targetClass) {
		return waits(method, targetClass);
	}

	@Override
	public void check(IdempotentOperation operation) {
		Listener listener = Listener.of(operation, this.sourceReader);
		ListenerCheck.check(operation, listener);
		if (listener != null) {
			this.listeners.put(key(operation), listener);
		}
	}

	/** Checks the listeners against their containers, which are all made by now. */
	@Override
	public void start() {
		this.listeners.values().forEach((listener) -> {
			Supplier<Broker> broker = this.brokers.get(listener.kind());
			if (broker != null) {
				broker.get().check(listener.operation(), listener.source());
			}
		});
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

	/** Comes before all containers of listeners. */
	@Override
	public int getPhase() {
		return Integer.MAX_VALUE - 1_000;
	}

	/** Leaves the event whose listener works in a subscription to whoever guards that. */
	@Override
	public boolean opens(OperationCall call) {
		return !this.listeners.isEmpty() && !call.operation().result().form().isSubscribed()
				&& this.listeners.containsKey(key(call.operation()));
	}

	@Override
	public @Nullable Object enter(OperationCall call) throws Throwable {
		Listener listener = Objects.requireNonNull(this.listeners.get(key(call.operation())), "No listener");
		Supplier<Broker> known = this.brokers.get(listener.kind());
		if (known == null) {
			return enterForEvent(call);
		}
		Broker broker = known.get();
		ReceivedMessage message = listener.message(call.arguments(), broker::repeats);
		Delivery delivery = broker.delivery(call, message, listener.source());
		call.watch(delivery);
		boolean async = call.operation().result().async();
		Object answer;
		try {
			answer = enter(call, delivery, new MessageValues(call.operation().name(), message),
					() -> listener.caller(message, broker::group));
		}
		catch (Throwable thrown) {
			if (async && broker.redeliversFailedFutures()) {
				return later(call, delivery, CompletableFuture.failedFuture(thrown));
			}
			Object told = threw(call, delivery, thrown);
			return async ? CompletableFuture.completedFuture(told) : told;
		}
		// That of a duplicate may fail with a failure that is remembered.
		if (async && answer instanceof CompletionStage<?> stage) {
			return later(call, delivery, stage);
		}
		returned(call, delivery);
		return answer;
	}

	/** Tries for as long as the delivery waits. */
	private @Nullable Object enter(OperationCall call, Delivery delivery, MessageValues values, Supplier<Caller> caller)
			throws Throwable {
		while (true) {
			try {
				return this.methodDoor.enter(call, values, caller);
			}
			catch (Throwable thrown) {
				if (call.hasRun() || new RefusalMeaning(call).isFinal(thrown) || !delivery.waits(thrown)) {
					throw thrown;
				}
			}
		}
	}

	/** Tells the broker the end of a future before its container hears of it. */
	private static CompletableFuture<@Nullable Object> later(OperationCall call, Delivery delivery,
			CompletionStage<?> stage) {
		CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
		stage.whenComplete((value, failure) -> {
			try {
				if (failure != null) {
					answer.complete(threw(call, delivery, failure));
				}
				else {
					returned(call, delivery);
					answer.complete(value);
				}
			}
			catch (Throwable ex) {
				answer.completeExceptionally(ex);
			}
		});
		return answer;
	}

	/**
	 * Tells the broker what becomes of the message of a call that has failed or was
	 * refused.
	 * @return the answer of a listener whose container need not know
	 * @throws Throwable what the container must know
	 */
	private static @Nullable Object threw(OperationCall call, Delivery delivery, Throwable thrown) throws Throwable {
		Throwable cause = AsyncResults.cause(thrown);
		if (cause instanceof Delivery.GivenBack back) {
			delivery.goThrough();
			return back.result();
		}
		RefusalMeaning refusalMeaning = new RefusalMeaning(call);
		if (refusalMeaning.isDuplicate(cause)) {
			delivery.goThrough();
			skip(call, delivery);
			return null;
		}
		boolean deadLetter = refusalMeaning.isDeadLetter(cause);
		if (!deadLetter && (!call.hasRun() || delivery.hasReturned())) {
			delivery.withdraw();
			Throwable told = delivery.sendBack(cause);
			if (told == null) {
				return null;
			}
			throw told;
		}
		try {
			delivery.goThrough();
		}
		catch (Exception ex) {
			thrown.addSuppressed(ex);
		}
		throw deadLetter ? delivery.deadLetter((RuntimeException) cause) : thrown;
	}

	/** Tells the broker that the effect of a message is there. */
	private static void returned(OperationCall call, Delivery delivery) throws Exception {
		if (call.hasRun()) {
			delivery.goThrough();
		}
		else {
			skip(call, delivery);
		}
	}

	/** Acknowledges a message that was processed before. */
	private static void skip(OperationCall call, Delivery delivery) throws Exception {
		logger.debug("Skipped a message, which '{}' has processed before: {}, record {}", call.operation().name(),
				delivery, call.recordId());
		if (delivery.isSilent()) {
			delivery.acknowledge();
		}
	}

	/**
	 * An event has no broker: what is thrown reaches its publisher. What a listener
	 * returns is published as an event of its own, so that of a duplicate is nothing.
	 */
	private @Nullable Object enterForEvent(OperationCall call) throws Throwable {
		RefusalMeaning refusalMeaning = new RefusalMeaning(call);
		Object answer;
		try {
			answer = this.methodDoor.enter(call);
		}
		catch (IdempotencyException ex) {
			if (refusalMeaning.isDuplicateEvent(ex)) {
				return call.operation().result().async() ? CompletableFuture.completedFuture(null) : null;
			}
			throw ex;
		}
		if (call.hasRun() || !refusalMeaning.canAnswerNothing()) {
			return answer;
		}
		return (answer instanceof CompletionStage<?> stage) ? stage.thenApply((replayed) -> null) : null;
	}

	private static MethodClassKey key(IdempotentOperation operation) {
		return new MethodClassKey(operation.guarded().method(), operation.guarded().targetClass());
	}

	/**
	 * Comes before the doors that take every call: that of tools takes those that a tool
	 * makes, and the method door the others.
	 */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE - 2;
	}

}
