package io.idempotency.engine;

import java.lang.reflect.Type;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOptions.Attributes;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.TransactionMode;
import io.idempotency.engine.DefaultIdempotencyTemplate.DescribedCall;
import io.idempotency.engine.DefaultIdempotencyTemplate.TemplateResult;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace.KeyParts;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * One call of a template. An exception of the action reaches the caller unchanged. For
 * one thread and a single use.
 */
final class EngineCall implements IdempotencyTemplate.Call {

	private final String operation;

	private final DefaultIdempotencyTemplate template;

	private @Nullable IdempotencyStore store;

	private @Nullable TransactionStarter transactions;

	private List<String> key = List.of();

	private @Nullable String token;

	private @Nullable String scope;

	private @Nullable Fingerprint fingerprint;

	private final IdempotencyOptions.Builder options;

	private @Nullable Callable<?> recovery;

	EngineCall(String operation, DefaultIdempotencyTemplate template) {
		this.operation = operation;
		this.template = template;
		this.options = template.defaults.change();
	}

	@Override
	public IdempotencyTemplate.Call key(Object... parts) {
		this.key = KeyParts.of(parts);
		return this;
	}

	@Override
	public IdempotencyTemplate.Call token(String token) {
		this.token = token;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call scope(String scope) {
		if (scope == null || scope.isEmpty()) {
			throw new IllegalArgumentException("The scope of a call of '" + this.operation
					+ "' is missing, so callers could share keys by mistake. Pass a scope, or do not call "
					+ "scope(...) if all callers share their keys");
		}
		this.scope = scope;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call fingerprint(@Nullable Object... parts) {
		Fingerprint.Builder builder = Fingerprint.of("values1");
		for (Object part : parts) {
			builder.add(KeyParts.text(part));
		}
		this.fingerprint = builder.build();
		return this;
	}

	@Override
	public IdempotencyTemplate.Call options(Consumer<? super IdempotencyOptions.Builder> options) {
		options.accept(this.options);
		return this;
	}

	@Override
	public IdempotencyTemplate.Call store(String name) {
		this.store = this.template.environment.store(name);
		return this;
	}

	@Override
	public IdempotencyTemplate.Call transaction(TransactionMode transaction) {
		this.transactions = (transaction == TransactionMode.JOIN) ? this.template.environment.transactions() : null;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call recover(Callable<?> recovery) {
		this.recovery = recovery;
		return this;
	}

	@Override
	public <T> @Nullable T execute(Class<T> type, Supplier<? extends @Nullable T> action) {
		return this.<T, RuntimeException>guard(type, false, action::get);
	}

	@Override
	@SuppressWarnings("unchecked")
	public <T> CompletableFuture<@Nullable T> executeAsync(Class<T> type,
			Supplier<? extends CompletionStage<? extends @Nullable T>> action) {
		CompletionStage<? extends @Nullable T> stage = this
			.<CompletionStage<? extends @Nullable T>, RuntimeException>guard(type, true, action::get);
		return (stage != null) ? (CompletableFuture<@Nullable T>) stage.toCompletableFuture()
				: CompletableFuture.completedFuture(null);
	}

	@Override
	public <T> @Nullable T call(Type type, Callable<? extends @Nullable T> action) throws Exception {
		return this.<T, Exception>guard(type, false, action);
	}

	@Override
	public void run(Runnable action) {
		execute(Void.class, () -> {
			action.run();
			return null;
		});
	}

	/**
	 * Describes this call for an engine that does not join transactions or wait for them.
	 */
	<T> DescribedCall<T> describe(Type type) {
		IdempotencyOptions resolved = resolve();
		TemplateResult result = declared(type, resolved);
		if (result.async()) {
			throw new IllegalArgumentException(
					"The type of '" + this.operation + "' must be the element type of its Mono");
		}
		if (this.transactions != null) {
			throw rejected("it joins a transaction, which a non-blocking call does not support", "Do not join");
		}
		GuardedCall call = guarded(resolved, result);
		return new DescribedCall<>(call, new Action<T>(resolved, result, () -> null), this.recovery);
	}

	private IdempotencyOptions resolve() {
		return this.options.operation(this.operation)
			.recoverable(this.recovery != null)
			.build(new Attributes(this.fingerprint != null, this.token != null, this.scope != null, this.store != null,
					false), this::rejected);
	}

	/**
	 * Checks the declared type before the action runs: a result that could not be
	 * replayed is already rejected on the first call.
	 */
	private TemplateResult declared(Type type, IdempotencyOptions resolved) {
		return this.template.result(this.operation, type, resolved.replays());
	}

	/**
	 * Throws any exception without declaring it, because code in other languages throws
	 * undeclared checked exceptions.
	 */
	@SuppressWarnings("unchecked")
	private <T, X extends Throwable> @Nullable T guard(Type type, boolean async, Callable<? extends @Nullable T> action)
			throws X {
		try {
			IdempotencyOptions resolved = resolve();
			TemplateResult result = declared(type, resolved);
			if (async && result.async()) {
				throw new IllegalArgumentException(
						"The type of '" + this.operation + "' must be the type of the value inside the future");
			}
			TemplateResult returned = async ? new TemplateResult(result.type(), true) : result;
			return this.template.engine.execute(guarded(resolved, returned), new Action<T>(resolved, returned, action),
					this.transactions);
		}
		catch (Throwable ex) {
			throw (X) ex;
		}
	}

	private GuardedCall guarded(IdempotencyOptions resolved, TemplateResult result) {
		IdempotencyStore used = (this.store != null) ? this.store : this.template.store;
		if (this.token != null && !this.key.isEmpty()) {
			throw rejected("it has a key and a token", "Pass only one of them");
		}
		if (this.transactions != null && result.async()) {
			throw rejected("it joins a transaction, but its work continues after the transaction ends",
					"Return the result itself, or do not join");
		}
		if (this.transactions != null && used.joining().isEmpty()) {
			throw rejected("it joins a transaction, which its store does not support",
					"Use the JDBC store, or do not join");
		}
		return new GuardedCall(key(), (this.fingerprint != null) ? this.fingerprint : Fingerprint.NONE, resolved, used);
	}

	private IllegalArgumentException rejected(String problem, String action) {
		return new IllegalArgumentException(
				"The call of '" + this.operation + "' contradicts itself: " + problem + ". " + action);
	}

	private IdempotencyKey key() {
		if (this.token != null) {
			return this.template.namespace.token(this.template.environment.caller(), this.token);
		}
		if (this.key.isEmpty()) {
			throw new IdempotencyKeyMissingException(this.operation,
					"The call of '" + this.operation + "' has no key. Call key(…) with non-empty parts, or token(…)");
		}
		Caller caller = (this.scope != null) ? Caller.scope(this.scope) : Caller.GLOBAL;
		return this.template.namespace.key(this.operation, caller, this.key);
	}

	/** Translates the call for the engine. */
	private final class Action<T> extends ValueAction<T> {

		private final IdempotencyOptions resolved;

		private final Callable<? extends @Nullable T> action;

		Action(IdempotencyOptions resolved, TemplateResult result, Callable<? extends @Nullable T> action) {
			super(EngineCall.this.template.codec(EngineCall.this.operation), result.type(), result.async());
			this.resolved = resolved;
			this.action = action;
		}

		@Override
		public @Nullable T run() throws Throwable {
			return this.action.call();
		}

		@Override
		protected @Nullable Object lookUp() throws Throwable {
			return (EngineCall.this.recovery != null) ? EngineCall.this.recovery.call() : null;
		}

		@Override
		protected int statusOf(Throwable failure) {
			return EngineCall.this.template.environment.statusOf(failure);
		}

		@Override
		public boolean isDuplicate(Throwable failure) {
			return this.resolved.isDuplicate(failure);
		}

	}

}
