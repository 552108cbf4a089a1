package io.idempotency.messaging;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.idempotency.IdempotencyMode;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

/**
 * A guarded listener method.
 *
 * @param parameter the parameter with the message, {@code null} if the method has no such
 * parameter
 * @param queue the only queue that the annotation names, {@code null} if it names several
 * queues, or none that is known at startup
 */
record GuardedListener(IdempotentOperation operation, ListenerKind kind, @Nullable MessageParameter parameter,
		@Nullable String queue) {

	private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

	private static final String HEADER = "org.springframework.messaging.handler.annotation.Header";

	/**
	 * Returns the listener of an operation.
	 * @param placeholders replaces placeholders
	 * @return the listener, {@code null} if the method is not a listener
	 */
	static @Nullable GuardedListener of(IdempotentOperation operation, UnaryOperator<@Nullable String> placeholders) {
		Method method = operation.guarded().method();
		ListenerKind kind = ListenerKind.of(method);
		return (kind != null) ? new GuardedListener(operation, kind, MessageParameter.of(method),
				queue(kind, operation, placeholders)) : null;
	}

	/**
	 * Checks the listener at startup.
	 * @throws io.idempotency.IdempotencyConfigurationException if it cannot be guarded
	 */
	void check() {
		checkDelivery();
		checkKey();
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

	/**
	 * Returns the only queue or JMS destination of a listener.
	 * @return the name, {@code null} if there are several, or none is known yet
	 */
	private static @Nullable String queue(ListenerKind kind, IdempotentOperation operation,
			UnaryOperator<@Nullable String> placeholders) {
		List<MergedAnnotation<?>> listeners = listeners(kind, operation);
		if (listeners.size() != 1) {
			return null;
		}
		return switch (kind) {
			case RABBIT -> known(rabbitQueue(listeners.get(0)), placeholders);
			case JMS -> destination(listeners.get(0), placeholders);
			case KAFKA -> null;
		};
	}

	private static List<MergedAnnotation<?>> listeners(ListenerKind kind, IdempotentOperation operation) {
		return Stream.of(operation.guarded().method(), operation.guarded().targetClass())
			.<List<MergedAnnotation<?>>>map((element) -> {
				List<MergedAnnotation<?>> found = new ArrayList<>();
				MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY)
					.stream(kind.annotation())
					.forEach(found::add);
				return found;
			})
			.filter((found) -> !found.isEmpty())
			.findFirst()
			.orElse(List.of());
	}

	private static @Nullable String rabbitQueue(MergedAnnotation<?> listener) {
		Class<Annotation> queue = annotation("org.springframework.amqp.rabbit.annotation.Queue");
		List<String> names = new ArrayList<>(List.of(listener.getStringArray("queues")));
		for (MergedAnnotation<?> declared : listener.getAnnotationArray("queuesToDeclare", queue)) {
			names.add(declared.getString("name"));
		}
		for (MergedAnnotation<?> binding : listener.getAnnotationArray("bindings",
				annotation("org.springframework.amqp.rabbit.annotation.QueueBinding"))) {
			names.add(binding.getAnnotation("value", queue).getString("name"));
		}
		return (names.size() == 1) ? names.get(0) : null;
	}

	/** The annotations of a broker are present where one of its listeners is. */
	@SuppressWarnings("unchecked")
	private static Class<Annotation> annotation(String name) {
		return (Class<Annotation>) ClassUtils.resolveClassName(name, GuardedListener.class.getClassLoader());
	}

	/** A JMS topic delivers every message to each of its subscriptions. */
	private static @Nullable String destination(MergedAnnotation<?> listener,
			UnaryOperator<@Nullable String> placeholders) {
		String destination = known(listener.getString("destination"), placeholders);
		String subscription = listener.getString("subscription");
		if (destination == null || subscription.isEmpty()) {
			return destination;
		}
		String name = known(subscription, placeholders);
		return (name != null) ? destination + "/" + name : null;
	}

	/**
	 * Returns the name without placeholders, {@code null} for an expression and for a
	 * queue that the broker names.
	 */
	private static @Nullable String known(@Nullable String name, UnaryOperator<@Nullable String> placeholders) {
		String resolved = (name != null) ? placeholders.apply(name) : null;
		return (resolved == null || resolved.isEmpty() || resolved.contains("#{")) ? null : resolved;
	}

	/** Rejects a listener whose messages could be lost without a trace. */
	private void checkDelivery() {
		reject(this.operation.options().mode() == IdempotencyMode.REJECT,
				"mode = REJECT does not distinguish a completed delivery from one in progress: the duplicate would be "
						+ "acknowledged, and the message lost if the first delivery fails",
				"Set keepResult = false instead of the mode, which stores no result either, and "
						+ "onAbandoned = AbandonedMode.REJECT for at most once");
		reject(isAsync(),
				"it is @Async: its container acknowledges a message before the call begins, so the message is lost if the "
						+ "call fails or is rejected",
				(this.kind == ListenerKind.JMS) ? "Remove @Async"
						: "Remove @Async, and return a CompletableFuture for work in another thread");
		reject(this.kind == ListenerKind.JMS
				&& (this.operation.result().async() || this.operation.result().form().isSubscribed()),
				"Spring JMS does not wait for a deferred result, so a redelivery could be skipped before the work fails",
				"Return the value itself, or void, when the work is done");
	}

	private boolean isAsync() {
		return Stream.of(this.operation.guarded().method(), this.operation.guarded().targetClass())
			.anyMatch((element) -> MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(ASYNC));
	}

	private void checkKey() {
		String addParameter = "Add a parameter, e.g. " + this.kind.parameter();
		reject(this.operation.key().token(), "token = true, but " + this.kind + " has no caller who could own a token",
				"Remove token");
		reject(this.operation.key().source() instanceof KeySource.Body,
				"body reads the body of a request, but it is " + this.kind,
				"Set key to an expression over the payload, e.g. key = \"#event.id\"");
		reject(this.kind != ListenerKind.JMS && takesBatch(),
				"it takes several messages at a time, but a key is for one message",
				"Move @Idempotent to a method of another bean, or use IdempotencyTemplate, and call it for each "
						+ "message. Alternatively, take one message at a time");
		boolean header = this.operation.key().source() instanceof KeySource.Header;
		reject((header || this.operation.reads("header") || this.operation.reads("messageId"))
				&& this.parameter == null,
				"it reads a header or the id of the message, but none of its parameters holds the message",
				addParameter);
		reject(this.kind != ListenerKind.KAFKA && this.queue == null && this.parameter == null
				&& this.operation.key().scope() == null,
				"its queue is not known, and two queues must not share a key by accident",
				addParameter + ", or set scope, e.g. scope = \"'orders'\"");
	}

	/** Returns whether a parameter without the annotation of a header is a list. */
	private boolean takesBatch() {
		return Stream.of(this.operation.guarded().method().getParameters())
			.filter((parameter) -> Iterable.class.isAssignableFrom(parameter.getType()))
			.anyMatch((parameter) -> !isHeader(parameter));
	}

	private static boolean isHeader(Parameter parameter) {
		MergedAnnotations annotations = MergedAnnotations.from(parameter);
		return annotations.isPresent(HEADER) || annotations.isPresent(HEADER + "s");
	}

	private void reject(boolean contradiction, String problem, String action) {
		if (contradiction) {
			throw this.operation.problem(problem, action);
		}
	}

}
