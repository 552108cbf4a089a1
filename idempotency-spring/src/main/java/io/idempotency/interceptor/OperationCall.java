package io.idempotency.interceptor;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.Internal;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.GuardedAction.GuardSignal;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.key.Namespace.KeyParts;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.CoroutinesUtils;

/**
 * One call of a guarded method. Runs the method, and evaluates the expressions of the
 * operation on the arguments. Not thread-safe.
 *
 * @hidden
 */
@Internal
public final class OperationCall {

	private final IdempotentOperation operation;

	private final MethodInvocation invocation;

	private final Namespace namespace;

	private volatile boolean hasRun;

	private @Nullable InvocationListener watch;

	private @Nullable IdempotencyKey key;

	OperationCall(IdempotentOperation operation, MethodInvocation invocation, Namespace namespace) {
		this.operation = operation;
		this.invocation = invocation;
		this.namespace = namespace;
	}

	/** Returns the call, {@code null} if the method has no operation. */
	static @Nullable OperationCall of(MethodInvocation invocation, IdempotentOperationSource source,
			Namespace namespace) {
		Object target = target(invocation);
		IdempotentOperation operation = null;
		if (target instanceof SpringProxy) {
			Class<?> targetClass = AopUtils.getTargetClass(target);
			// The class behind a repository does not declare the repository's own
			// methods.
			operation = invocation.getMethod().getDeclaringClass().isAssignableFrom(targetClass)
					? source.operation(invocation.getMethod(), targetClass) : null;
		}
		if (operation == null) {
			operation = source.operation(invocation.getMethod(), target.getClass());
		}
		return (operation != null) ? new OperationCall(operation, invocation, namespace) : null;
	}

	/** Returns the target, or the proxy itself if its advice does the work. */
	private static Object target(MethodInvocation invocation) {
		Object target = invocation.getThis();
		return (target != null) ? target : ((ProxyMethodInvocation) invocation).getProxy();
	}

	/**
	 * Creates a call that did not pass a proxy.
	 * @param target the object that is called
	 * @param argument the argument of the call
	 * @param namespace the namespace of the operations
	 */
	public static OperationCall of(IdempotentOperation operation, InvocationListener.Run work, Object target,
			Object argument, Namespace namespace) {
		return new OperationCall(operation,
				new DirectInvocation(operation.guarded().method(), work, target, new Object[] { argument }), namespace);
	}

	/** Returns the operation. */
	public IdempotentOperation operation() {
		return this.operation;
	}

	/**
	 * Returns the bean that is called.
	 * @return the target; a Spring proxy only if the proxy has no target
	 */
	public Object target() {
		Object target = target(this.invocation);
		Object inner = AopProxyUtils.getSingletonTarget(target);
		while (inner != null) {
			target = inner;
			inner = AopProxyUtils.getSingletonTarget(target);
		}
		return target;
	}

	/**
	 * Returns the arguments of the call.
	 * @return the arguments, not a copy
	 */
	public @Nullable Object[] arguments() {
		return this.invocation.getArguments();
	}

	/**
	 * Runs the method.
	 * @return its result
	 * @throws Throwable the exception of the method
	 */
	public @Nullable Object run() throws Throwable {
		this.hasRun = true;
		InvocationListener watching = this.watch;
		return (watching != null) ? watching.run(this.invocation::proceed) : this.invocation.proceed();
	}

	/**
	 * Returns a copy of this call. Each subscription to a deferred result is a separate
	 * call.
	 * @return the call, which has not run
	 */
	public OperationCall again() {
		MethodInvocation anew = (this.invocation instanceof ProxyMethodInvocation proxied) ? proxied.invocableClone()
				: this.invocation;
		return new OperationCall(this.operation, anew, this.namespace);
	}

	/**
	 * Sets the listener of an adapter for the invocation of the method.
	 * @param adapter the listener
	 */
	public void watch(InvocationListener adapter) {
		this.watch = adapter;
	}

	/** Returns the outcome of the call, if its return alone does not determine it. */
	CallOutcome returned(CallOutcome ending) {
		InvocationListener watching = this.watch;
		return (watching != null) ? watching.returned(ending) : ending;
	}

	/**
	 * Returns the adapter's text for a failure, {@code null} without such a text.
	 */
	@Nullable String told(Throwable failure) {
		InvocationListener watching = this.watch;
		return (watching != null) ? watching.told(failure) : null;
	}

	/**
	 * Returns whether the method was entered in this call. The result is then not a
	 * replay.
	 */
	public boolean hasRun() {
		return this.hasRun;
	}

	/**
	 * Returns whether this call returns without a result instead of being rejected.
	 * @param rejection the rejection of this call, or of a call that the method made
	 */
	boolean skips(IdempotencyException rejection) {
		IdempotencyOptions options = this.operation.options();
		return options.conflict() == ConflictMode.SKIP && !this.hasRun
				&& rejection.operation().equals(this.operation.name())
				&& (rejection instanceof IdempotencyInProgressException
						|| rejection instanceof IdempotencyDuplicateException
						|| rejection instanceof IdempotencyOutcomeUnknownException
								&& options.mode() != IdempotencyMode.REPLAY);
	}

	/**
	 * Runs the method outside of every guarded call, so the method sees no current
	 * context.
	 * @return its result
	 * @throws Throwable the exception of the method
	 */
	public @Nullable Object runUnguarded() throws Throwable {
		try (IdempotencyContextHolder.Binding none = IdempotencyContextHolder.bind(null)) {
			return run();
		}
	}

	/**
	 * Returns whether the call is guarded.
	 * @return whether the condition holds, or the operation has no condition
	 * @throws IllegalStateException if the condition fails or does not return a boolean
	 */
	public boolean isGuarded(RequestValues values) {
		OperationExpression condition = this.operation.key().condition();
		if (condition == null) {
			return true;
		}
		if (value(condition, values) instanceof Boolean guarded) {
			return guarded;
		}
		throw condition.failure(new IllegalArgumentException("It must return true or false"));
	}

	/**
	 * Evaluates the expression of the key.
	 * @return the parts of the key, empty if the key is missing
	 * @throws IllegalStateException if the expression fails or returns a value that
	 * cannot be a key; the message contains the method and the type
	 */
	public List<String> key(KeySource.Spel source, RequestValues values) {
		Object value = value(source.expression(), values);
		try {
			return KeyParts.of(value);
		}
		catch (IllegalArgumentException ex) {
			throw source.expression().failure(ex);
		}
	}

	/**
	 * Creates the whole key from the namespace, the operation, the caller and the parts.
	 * The key of a token has no operation.
	 * @param defaultCaller the owner of the key if the annotation has no scope
	 * @throws IllegalStateException if the scope expression fails, or a token has several
	 * parts
	 */
	public IdempotencyKey key(List<String> parts, Caller defaultCaller, RequestValues values) {
		Caller scope = scope(values);
		IdempotencyKey made = key(parts, (scope != null) ? scope : defaultCaller);
		this.key = made;
		return made;
	}

	private IdempotencyKey key(List<String> parts, Caller caller) {
		if (!this.operation.key().token()) {
			return this.namespace.key(this.operation.name(), caller, parts);
		}
		if (parts.size() != 1) {
			throw new GuardMisconfiguredException("The key of '" + this.operation.describe()
					+ "' must be an issued token, which is a single string and not a list", null);
		}
		return this.namespace.token(caller, parts.get(0));
	}

	/**
	 * Returns the id of the record of this call, {@code null} before its key is known.
	 */
	public @Nullable String recordId() {
		return (this.key != null) ? this.key.hashHex() : null;
	}

	/**
	 * Returns the owner of the key, if the annotation has a scope.
	 * @return the caller, {@code null} if the annotation has no scope
	 * @throws IdempotencyKeyInvalidException if the expression returns nothing; a missing
	 * scope must never become one that all callers share
	 * @throws IllegalStateException if the expression fails
	 */
	public @Nullable Caller scope(RequestValues values) {
		OperationExpression expression = this.operation.key().scope();
		if (expression == null) {
			return null;
		}
		Object value = value(expression, values);
		String scope;
		try {
			scope = KeyParts.text(value);
		}
		catch (IllegalArgumentException ex) {
			throw expression.failure(ex);
		}
		if (scope == null || scope.isEmpty()) {
			throw noScope(expression);
		}
		return Caller.scope(scope);
	}

	private @Nullable Object value(OperationExpression expression, RequestValues values) {
		return expression.value(new CallRoot(this, values), arguments());
	}

	/**
	 * Rejects a call that does not identify the owner of its key. The client receives the
	 * message; the cause is for the log.
	 */
	private IdempotencyKeyInvalidException noScope(OperationExpression expression) {
		IdempotencyKeyInvalidException rejection = new IdempotencyKeyInvalidException(this.operation.name(),
				"The request does not identify its caller. Send the value that identifies it, e.g. the tenant or "
						+ "the credentials");
		rejection.initCause(expression
			.failure(new IllegalArgumentException("It returned no scope, so callers could share keys by mistake")));
		return rejection;
	}

	/**
	 * Returns the value of the fingerprint expression.
	 * @throws IllegalStateException if the expression fails
	 */
	public @Nullable Object fingerprint(IdempotentOperation.FingerprintSource.Spel source, RequestValues values) {
		return value(source.expression(), values);
	}

	/**
	 * Looks up the result in the business data. If the proxy has the method, it is called
	 * through the proxy, so that its own advice (e.g. a transaction) applies.
	 * @return the result, {@code null} if the lookup found no result
	 * @throws Throwable the exception of the lookup
	 */
	public @Nullable Object recover() throws Throwable {
		Method recover = this.operation.result().recover();
		if (recover == null) {
			return null;
		}
		try {
			Object receiver = receiver(recover);
			return DeferredResultTypes.isSuspend(recover)
					? CoroutinesUtils.invokeSuspendingFunction(recover, receiver, arguments())
					: recover.invoke(receiver, arguments());
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	private Object receiver(Method method) {
		boolean advised = (method.getModifiers() & (Modifier.PRIVATE | Modifier.FINAL | Modifier.STATIC)) == 0;
		if (advised && this.invocation instanceof ProxyMethodInvocation proxied
				&& method.getDeclaringClass().isInstance(proxied.getProxy())) {
			return proxied.getProxy();
		}
		return target();
	}

	/**
	 * Returns whether a failure must not be remembered. Either the method was never
	 * entered, because its own {@code @Validated} rejected the arguments, or the adapter
	 * requires that the work is done again.
	 */
	public boolean isRejectedBefore(Throwable failure) {
		return this.watch != null && this.watch.isGivenBack()
				|| RejectedArguments.are(failure, target(), this.operation.guarded().method(), arguments());
	}

	/** Returns whether an exception of the method means "already done". */
	public boolean isDuplicate(Throwable failure) {
		if (GuardSignal.is(failure) || this.watch != null && this.watch.isGivenBack()) {
			return false;
		}
		return this.operation.options().isDuplicate(failure);
	}

	/** The invocation of work that has no proxy. */
	private record DirectInvocation(Method method, InvocationListener.Run work, Object target,
			@Nullable Object[] arguments) implements MethodInvocation {

		@Override
		public Method getMethod() {
			return this.method;
		}

		@Override
		public AccessibleObject getStaticPart() {
			return this.method;
		}

		@Override
		public @Nullable Object[] getArguments() {
			return this.arguments;
		}

		@Override
		public Object getThis() {
			return this.target;
		}

		@Override
		public @Nullable Object proceed() throws Throwable {
			return this.work.proceed();
		}

	}

	/**
	 * Observes the invocation of a guarded method, for an adapter whose methods do not
	 * report their outcome only by their return. For one call; the end of a future may be
	 * reported by another thread than the one that runs the method.
	 *
	 * @hidden
	 */
	public interface InvocationListener {

		/**
		 * Runs the method at most once. An exception of this method counts as one of the
		 * guarded method: it rolls back a joined transaction.
		 * @return its result
		 * @throws Throwable its exception, or an exception for a return that is not a
		 * success
		 */
		@Nullable Object run(Run method) throws Throwable;

		/**
		 * Returns the outcome of a call whose method returned, and whose future, if it
		 * has one, completed.
		 * @param ending the outcome according to the return alone
		 */
		CallOutcome returned(CallOutcome ending);

		/**
		 * Returns whether the work of a failed call is to be done again in any case, so
		 * that its failure is not remembered.
		 */
		boolean isGivenBack();

		/**
		 * Returns the text that the adapter sends to its client for a remembered failure,
		 * so that a replay can send the same text.
		 * @param failure the exception of the guarded method
		 * @return the text, {@code null} if the exception is sufficient
		 */
		default @Nullable String told(Throwable failure) {
			return null;
		}

		/**
		 * The invocation of a method.
		 *
		 * @hidden
		 */
		@FunctionalInterface
		interface Run {

			/**
			 * Runs the method.
			 * @return its result
			 * @throws Throwable its exception
			 */
			@Nullable Object proceed() throws Throwable;

		}

	}

}
