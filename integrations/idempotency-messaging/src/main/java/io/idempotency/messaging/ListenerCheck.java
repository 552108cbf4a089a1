package io.idempotency.messaging;

import java.lang.reflect.Parameter;
import java.util.stream.Stream;

import io.idempotency.IdempotencyMode;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.KeySource;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** Rejects, at startup, listeners that cannot be guarded. */
record ListenerCheck(GuardedListener listener, IdempotentOperation operation) {

	private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

	private static final String HEADER = "org.springframework.messaging.handler.annotation.Header";

	static void check(GuardedListener listener) {
		ListenerCheck check = new ListenerCheck(listener, listener.operation());
		check.checkDelivery();
		check.checkKey();
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
				(this.listener.kind() == ListenerKind.JMS) ? "Remove @Async"
						: "Remove @Async, and return a CompletableFuture for work in another thread");
		reject(this.listener.kind() == ListenerKind.JMS
				&& (this.operation.result().async() || this.operation.result().form().isSubscribed()),
				"Spring JMS does not wait for a deferred result, so a redelivery could be skipped before the work fails",
				"Return the value itself, or void, when the work is done");
	}

	private boolean isAsync() {
		return Stream.of(this.operation.guarded().method(), this.operation.guarded().targetClass())
			.anyMatch((element) -> MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(ASYNC));
	}

	private void checkKey() {
		ListenerKind kind = this.listener.kind();
		MessageParameter parameter = this.listener.parameter();
		String addParameter = "Add a parameter, e.g. " + kind.parameter();
		reject(this.operation.key().token(), "token = true, but " + kind + " has no caller who could own a token",
				"Remove token");
		reject(this.operation.key().source() instanceof KeySource.Body,
				"body reads the body of a request, but it is " + kind,
				"Set key to an expression over the payload, e.g. key = \"#event.id\"");
		reject(kind != ListenerKind.JMS && takesBatch(),
				"it takes many messages at a time, and a key is for one of them",
				"Remove @Idempotent here, and call a guarded method of another bean, or IdempotencyTemplate, for each "
						+ "message; or take one message at a time");
		boolean header = this.operation.key().source() instanceof KeySource.Header;
		reject((header || this.operation.reads("header") || this.operation.reads("messageId")) && parameter == null,
				"it reads a header or the id of the message, but none of its parameters holds the message",
				addParameter);
		reject(kind != ListenerKind.KAFKA && this.listener.queue() == null && parameter == null
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
