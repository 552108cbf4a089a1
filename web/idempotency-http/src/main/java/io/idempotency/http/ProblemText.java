package io.idempotency.http;

import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperationSource;
import io.idempotency.interceptor.KeySource;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.web.method.HandlerMethod;

/**
 * Tells a refused client what it can do, in the words of the client: method, path and
 * header. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class ProblemText {

	private final ApplicationContext context;

	public ProblemText(ApplicationContext context) {
		this.context = context;
	}

	/**
	 * Returns the advice for the client.
	 * @param target method and path that the client has asked for
	 * @param handler the handler of the request, as far as it is known
	 */
	public String of(IdempotencyException refusal, String target, @Nullable Object handler) {
		return Problem.detail(refusal, target, place(refusal, handler));
	}

	/**
	 * Returns the advice for the client of an operation.
	 * @param refusal the refusal
	 * @param target method and path that the client has asked for
	 * @param operation the operation of the request
	 */
	public String ofOperation(IdempotencyException refusal, String target, IdempotentOperation operation) {
		return Problem.detail(refusal, target, place(refusal, operation));
	}

	private String place(IdempotencyException refusal, @Nullable Object handler) {
		IdempotentOperationSource source = this.context.getBeanProvider(IdempotentOperationSource.class)
			.getIfAvailable();
		IdempotentOperation operation = (source != null && handler instanceof HandlerMethod method)
				? source.operation(method.getMethod(), method.getBeanType()) : null;
		return (operation != null) ? place(refusal, operation) : "";
	}

	/**
	 * Returns the place of the key, empty if no client can send it there: the key of a
	 * nested call, or one that an expression makes.
	 */
	private static String place(IdempotencyException refusal, IdempotentOperation operation) {
		KeySource source = operation.key().source();
		boolean sendable = operation.name().equals(refusal.operation()) && !(source instanceof KeySource.Spel);
		return sendable ? " " + source.place() : "";
	}

}
