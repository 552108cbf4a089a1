package io.idempotency.message;

import java.lang.reflect.Parameter;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.idempotency.IdempotencyMode;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.KeySource;
import io.idempotency.aop.OperationExpression;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** Refuses, at start-up, listeners that could not be guarded. */
final class ListenerCheck {

	private static final String HEADER = "header";

	private static final String MESSAGE_ID = "messageId";

	private static final String HEADER_PARAMETER = "org.springframework.messaging.handler.annotation.Header";

	private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

	/** How an expression reads a header that Spring replaces. */
	private static final Pattern REPLACED = Pattern.compile(
			"\\bheaders?\\(['\"](id|timestamp)['\"]|(?<!payload\\.)headers(\\(\\))?(\\[['\"]?(id|timestamp)['\"]?]|"
					+ "\\.get\\(['\"](id|timestamp)['\"]|\\.(get)?(id|timestamp)\\b)",
			Pattern.CASE_INSENSITIVE);

	/**
	 * The annotations of methods that get messages, and never a request. The first is
	 * part of those of most brokers (Pulsar, SQS) and of STOMP.
	 */
	private static final List<String> FOREIGN = List.of(
			"org.springframework.messaging.handler.annotation.MessageMapping",
			"org.springframework.integration.annotation.ServiceActivator",
			"org.springframework.integration.annotation.Transformer",
			"org.springframework.integration.annotation.Filter", "org.springframework.integration.annotation.Splitter",
			"org.springframework.integration.annotation.Router",
			"org.springframework.integration.annotation.Aggregator",
			"org.springframework.scheduling.annotation.Scheduled");

	private final IdempotentOperation operation;

	private ListenerCheck(IdempotentOperation operation) {
		this.operation = operation;
	}

	/**
	 * Checks an operation.
	 * @param listener its listener, {@code null} if the method is none
	 */
	static void check(IdempotentOperation operation, @Nullable Listener listener) {
		ListenerCheck check = new ListenerCheck(operation);
		if (listener == null || !listener.kind().hasBroker()) {
			check.refuse(check.reads(MESSAGE_ID),
					"its expression reads messageId(), but it is no listener of Kafka, RabbitMQ or JMS",
					"Use a value of the arguments");
			check.checkForeign();
			return;
		}
		check.check(listener);
	}

	/**
	 * Refuses a header of a method that others than the known brokers call with a
	 * message, e.g. a function of Spring Cloud Stream or an endpoint of Spring
	 * Integration: no such call has a request, so each message would lack its key.
	 */
	private void checkForeign() {
		MessageCarrier carrier = MessageCarrier.of(this.operation.guarded().method());
		refuse(carrier != null && carrier.replacesIds()
				&& expressions().anyMatch((expression) -> REPLACED.matcher(expression.toString()).find()),
				"the headers id and timestamp of Spring's Message may be new in each delivery", "Take another header");
		if (!readsHeader() || isHandlerOfRequests()) {
			return;
		}
		Class<?> type = this.operation.guarded().targetClass();
		boolean function = Consumer.class.isAssignableFrom(type) || Function.class.isAssignableFrom(type);
		boolean message = carrier != null;
		refuse(message || isForeignListener(),
				"header reads a header of a request, or of a message of Kafka, RabbitMQ or JMS, and " + (function
						? "the parameter of this function is a message" : "it is a listener of something else"),
				message ? "Set key to an expression over the message, e.g. key = \"#message.headers['Idempotency-Key']\""
						: "Add a parameter of Spring's Message, and set key to an expression over it, e.g. "
								+ "key = \"#message.headers['Idempotency-Key']\"");
	}

	private boolean isHandlerOfRequests() {
		return isPresent("org.springframework.web.bind.annotation.RequestMapping");
	}

	private boolean isForeignListener() {
		return FOREIGN.stream().anyMatch(this::isPresent);
	}

	private boolean isPresent(String annotation) {
		return MergedAnnotations.from(this.operation.guarded().method(), SearchStrategy.TYPE_HIERARCHY)
			.isPresent(annotation);
	}

	private boolean readsHeader() {
		return this.operation.key().source() instanceof KeySource.Header || reads(HEADER);
	}

	private void check(Listener listener) {
		refuse(this.operation.options().mode() == IdempotencyMode.REJECT,
				"mode = REJECT cannot tell a message that is done from one whose first delivery still runs: it would be "
						+ "skipped and acknowledged, and nobody delivers it again if that fails",
				"Set keepResult = false in place of the mode, which stores no answer either, and "
						+ "onAbandoned = AbandonedMode.REFUSE for at most once");
		refuse(isPresent(ASYNC)
				|| MergedAnnotations.from(this.operation.guarded().targetClass(), SearchStrategy.TYPE_HIERARCHY)
					.isPresent(ASYNC),
				"it is @Async: its container acknowledges a message before the call begins, so one that fails, whose first "
						+ "delivery still runs, or whose store is down is lost",
				(listener.kind() == ListenerKind.JMS) ? "Remove @Async"
						: "Remove @Async, and return a CompletableFuture for work in another thread");
		refuse(listener.kind() == ListenerKind.JMS
				&& (this.operation.result().async() || this.operation.result().form().isSubscribed()),
				"Spring JMS does not wait for a result that comes later: it sends it as a reply, and what is delivered "
						+ "again would be skipped while the work goes on, or after it has failed",
				"Return the value itself, or void, when the work is done");
		refuse(this.operation.key().token(),
				"token = true, but " + listener.kind() + " has no caller who could own a token", "Remove token");
		refuse(this.operation.key().source() instanceof KeySource.Body,
				"body reads the body of a request, but it is " + listener.kind(),
				"Set key to an expression over the payload, e.g. key = \"#event.id\"");
		refuse(listener.kind() != ListenerKind.JMS && takesBatch(),
				"it takes many messages at a time, and a key is for one of them",
				"Remove @Idempotent here, and " + batchRecipe(listener.kind()) + "; or take one message at a time");
		refuse((readsHeader() || reads(MESSAGE_ID)) && listener.carrier() == null,
				"it reads a header or the id of the message, but none of its parameters holds the message",
				"Add a parameter, e.g. " + parameter(listener.kind()));
		refuse(listener.carrier() != null && listener.carrier().replacesIds() && readsReplacedHeader()
				|| takesReplacedHeader(),
				"Spring's messaging has an id and a timestamp of each delivery in the place of these headers, so each "
						+ "delivery would have a key of its own",
				"Take another header, messageId(), or a parameter with the broker's own message, e.g. "
						+ ownParameter(listener.kind()));
		refuse(!knowsSource(listener),
				"it does not say whose key it is: nothing tells from which queue a message comes, and two "
						+ "queues must not share a key by accident",
				"Add a parameter that holds the message, e.g. " + parameter(listener.kind())
						+ ", or set scope, e.g. scope = \"'orders'\"");
	}

	private boolean readsReplacedHeader() {
		return this.operation.key().source() instanceof KeySource.Header header
				&& SpringMessage.isReplaced(header.name())
				|| expressions().anyMatch((expression) -> REPLACED.matcher(expression.toString()).find());
	}

	private boolean takesReplacedHeader() {
		return Stream.of(this.operation.guarded().method().getParameters())
			.filter((parameter) -> SpringMessage.isReplaced(
					MergedAnnotations.from(parameter).get(HEADER_PARAMETER).getValue("name", String.class).orElse("")))
			.anyMatch((parameter) -> expressions()
				.anyMatch((expression) -> expression.toString().matches(".*#" + parameter.getName() + "\\b.*")));
	}

	private static String batchRecipe(ListenerKind kind) {
		String each = "call a guarded method of another bean, or IdempotencyTemplate, for one message after the other";
		return (kind == ListenerKind.KAFKA)
				? each + ". Where a call fails, throw new BatchListenerFailedException(\"...\", exception, index) with "
						+ "the index of its record: that record and those after it are delivered again"
				: each + ". Let the exception of a call that failed reach the container: the batch is delivered again, "
						+ "and the messages that are done are skipped";
	}

	private boolean knowsSource(Listener listener) {
		return listener.kind() == ListenerKind.KAFKA || listener.source() != null || listener.carrier() != null
				|| this.operation.key().scope() != null;
	}

	private static String parameter(ListenerKind kind) {
		return switch (kind) {
			case KAFKA, JMS, EVENT -> ownParameter(kind) + ", or Message<Order> message of Spring's messaging";
			case RABBIT -> ownParameter(kind);
		};
	}

	private static String ownParameter(ListenerKind kind) {
		return switch (kind) {
			case KAFKA -> "ConsumerRecord<String, Order> record";
			case RABBIT -> "Message message of Spring AMQP, beside the payload";
			case JMS, EVENT -> "jakarta.jms.Message message";
		};
	}

	/**
	 * Returns whether a parameter holds several messages. Headers may be lists, too, but
	 * they have an annotation.
	 */
	private boolean takesBatch() {
		return Stream.of(this.operation.guarded().method().getParameters())
			.filter((parameter) -> !isHeader(parameter))
			.anyMatch((parameter) -> Iterable.class.isAssignableFrom(parameter.getType()));
	}

	private static boolean isHeader(Parameter parameter) {
		MergedAnnotations annotations = MergedAnnotations.from(parameter);
		return annotations.isPresent(HEADER_PARAMETER)
				|| annotations.isPresent("org.springframework.messaging.handler.annotation.Headers");
	}

	private boolean reads(String rootMethod) {
		return expressions().anyMatch((expression) -> expression.calls(rootMethod));
	}

	private Stream<OperationExpression> expressions() {
		OperationExpression key = (this.operation.key().source() instanceof KeySource.Spel spel) ? spel.expression()
				: null;
		OperationExpression fingerprint = (this.operation
			.fingerprint() instanceof IdempotentOperation.FingerprintSource.Spel spel) ? spel.expression() : null;
		return Stream
			.of(Optional.ofNullable(key), Optional.ofNullable(fingerprint),
					Optional.ofNullable(this.operation.key().scope()),
					Optional.ofNullable(this.operation.key().condition()))
			.flatMap(Optional::stream);
	}

	private void refuse(boolean contradiction, String problem, String action) {
		if (contradiction) {
			throw this.operation.problem(problem, action);
		}
	}

}
