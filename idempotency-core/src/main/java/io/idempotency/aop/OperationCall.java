package io.idempotency.aop;

import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Objects;

import io.idempotency.key.Caller;
import io.idempotency.key.KeyParts;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One call of a guarded method: runs it, and evaluates the expressions of its operation
 * on its arguments. For one call, not thread-safe.
 *
 * @since 0.1.0
 */
public final class OperationCall {

	private final IdempotentOperation operation;

	private final MethodInvocation invocation;

	private final OperationExpressions expressions;

	OperationCall(IdempotentOperation operation, MethodInvocation invocation, OperationExpressions expressions) {
		this.operation = operation;
		this.invocation = invocation;
		this.expressions = expressions;
	}

	/**
	 * The operation.
	 * @return the operation
	 */
	public IdempotentOperation operation() {
		return this.operation;
	}

	/**
	 * The bean that is called.
	 * @return the target
	 */
	public Object target() {
		return Objects.requireNonNull(this.invocation.getThis());
	}

	/**
	 * The arguments of the call.
	 * @return the arguments, not a copy
	 */
	public @Nullable Object[] arguments() {
		return this.invocation.getArguments();
	}

	/**
	 * Runs the method.
	 * @return its result
	 * @throws Throwable whatever it throws
	 */
	public @Nullable Object run() throws Throwable {
		return this.invocation.proceed();
	}

	/**
	 * Whether the call is guarded.
	 * @param values of the request
	 * @return whether the condition holds, or there is none
	 */
	public boolean isGuarded(RequestValues values) {
		return this.operation.condition() == null || this.expressions.isTrue(this.operation.condition(), this, values);
	}

	/**
	 * The key, where an expression gives it.
	 * @param source the expression
	 * @param values of the request
	 * @return its parts, empty if the key is missing
	 * @throws IllegalStateException if the expression fails or gives a value that cannot
	 * be a key; names the method and the type
	 */
	public List<String> key(KeySource.Spel source, RequestValues values) {
		Object value = this.expressions.value(source.expression(), this, values);
		try {
			return KeyParts.of(value);
		}
		catch (IllegalArgumentException ex) {
			throw this.expressions.failure("key", this, ex);
		}
	}

	/**
	 * Whose key it is, where the annotation says so.
	 * @param values of the request
	 * @return the caller, {@code null} if the annotation has no scope
	 */
	public @Nullable Caller scope(RequestValues values) {
		if (this.operation.scope() == null) {
			return null;
		}
		return this.expressions.scope(this.operation.scope(), this, values);
	}

	/**
	 * The value of the fingerprint expression.
	 * @param source the expression
	 * @param values of the request
	 * @return the value
	 */
	public @Nullable Object fingerprint(IdempotentOperation.FingerprintSource.Spel source, RequestValues values) {
		return this.expressions.value(source.expression(), this, values);
	}

	/**
	 * Looks the result up in the business data.
	 * @return the result, {@code null} if there is none
	 * @throws Throwable whatever the look-up throws
	 */
	public @Nullable Object recover() throws Throwable {
		if (this.operation.recover() == null) {
			return null;
		}
		try {
			return this.operation.recover().invoke(target(), arguments());
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/**
	 * Whether an exception of the method means "already done".
	 * @param failure the exception
	 * @return whether it does
	 */
	public boolean isDuplicate(Throwable failure) {
		return this.operation.duplicateOn().stream().anyMatch((type) -> type.isInstance(failure));
	}

}
