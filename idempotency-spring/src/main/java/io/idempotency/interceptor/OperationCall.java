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
 * One call of a guarded method: it runs the method, and evaluates the expressions of the
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
			// The class behind a repository knows nothing of the repository's own
			// methods.
			operation = invocation.getMethod().getDeclaringClass().isAssignableFrom(targetClass)
					? source.operation(invocation.getMethod(), targetClass) : null;
		}
		if (operation == null) {
			operation = source.operation(invocation.getMethod(), target.getClass());
		}
		return (operation != null) ? new OperationCall(operation, invocation, namespace) : null;
	}

	/** Returns what is called: the proxy itself where its advice does the work. */
	private static Object target(MethodInvocation invocation) {
		Object target = invocation.getThis();
		return (target != null) ? target : ((ProxyMethodInvocation) invocation).getProxy();
	}

	/**
	 * Makes a call that no proxy has seen.
	 * @param target what is called
	 * @param argument what it is called with
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
	 * @return the target; one of Spring's proxies only if there is nothing behind it
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
	 * Returns the same call anew: a result that is subscribed to later, and more than
	 * once, is a call each time.
	 * @return the call, which has not run
	 */
	public OperationCall again() {
		MethodInvocation anew = (this.invocation instanceof ProxyMethodInvocation proxied) ? proxied.invocableClone()
				: this.invocation;
		return new OperationCall(this.operation, anew, this.namespace);
	}

	/**
	 * Lets an adapter watch the run of the method.
	 * @param adapter what the adapter does about the run
	 */
	public void watch(InvocationListener adapter) {
		this.watch = adapter;
	}

	/** Returns how the call has ended, if its return alone does not say so. */
	CallOutcome returned(CallOutcome ending) {
		InvocationListener watching = this.watch;
		return (watching != null) ? watching.returned(ending) : ending;
	}

	/**
	 * Returns what the adapter tells of a failure, {@code null} for nothing of its own.
	 */
	@Nullable String told(Throwable failure) {
		InvocationListener watching = this.watch;
		return (watching != null) ? watching.told(failure) : null;
	}

	/**
	 * Returns whether the method was entered in this call. Then the answer is no replay.
	 */
	public boolean hasRun() {
		return this.hasRun;
	}

	/**
	 * Returns whether this call returns without a result instead of being rejected.
	 * @param rejection the rejection of this call, or of one that the method made
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
	 * @return whether the condition holds, or there is none
	 * @throws IllegalStateException if the condition fails or gives no boolean
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
	 * @throws IllegalStateException if the expression fails or gives a value that cannot
	 * be a key; the message names the method and the type
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
	 * Makes the whole key from the namespace, the operation, the caller and the parts;
	 * the key of a token has no operation.
	 * @param defaultCaller whose key it is if the annotation has no scope
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
	 * Returns whose key it is, if the annotation has a scope.
	 * @return the caller, {@code null} if the annotation has no scope
	 * @throws IdempotencyKeyInvalidException if the expression gives nothing; a missing
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
	 * Rejects a call that does not say whose key it is. The client gets the message; the
	 * cause is for readers of the log.
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
	 * Looks the result up in the business data. If the proxy has the method, it is called
	 * through the proxy, so that its own advice (e.g. a transaction) applies.
	 * @return the result, {@code null} if there is none
	 * @throws Throwable the exception of the look-up
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
	 * Returns whether an exception leaves nothing to remember: the method was never
	 * entered, because its own {@code @Validated} has rejected the arguments, or its
	 * adapter knows that the work is to be done anew.
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
	 * Watches the run of a guarded method for an adapter whose methods say in another way
	 * than by their return how a call has ended. For one call; the end of a future may be
	 * told by another thread than the one that runs.
	 *
	 * @hidden
	 */
	public interface InvocationListener {

		/**
		 * Runs the method, once at most. An exception of this method is one of the
		 * guarded method: it rolls a joined transaction back.
		 * @return its result
		 * @throws Throwable its exception, or one that says that its return is no success
		 */
		@Nullable Object run(Run method) throws Throwable;

		/**
		 * Returns how a call has ended whose method has returned, and whose future, if it
		 * has one, has completed.
		 * @param ending the ending as the return alone says it
		 */
		CallOutcome returned(CallOutcome ending);

		/**
		 * Returns whether the work of a call that has failed is to be done anew in any
		 * case, so that its failure is not remembered.
		 */
		boolean isGivenBack();

		/**
		 * Returns what the adapter tells its client of a failure that is remembered, so
		 * that a replay can tell the same.
		 * @param failure the exception of the guarded method
		 * @return what is told, {@code null} if the exception alone says it
		 */
		default @Nullable String told(Throwable failure) {
			return null;
		}

		/**
		 * The run of a method.
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
