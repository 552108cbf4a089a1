package io.idempotency.template;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.TransactionMode;
import io.idempotency.engine.TransactionStarter;
import io.idempotency.engine.ValueAction;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.KeyParts;
import io.idempotency.protocol.AttributeCheck;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.protocol.IdempotencyPolicy;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * One call of a template. An exception of the action reaches the caller unchanged. For
 * one thread and one use.
 */
final class EngineCall implements IdempotencyTemplate.Call {

	private final String operation;

	private final EngineIdempotencyTemplate template;

	private IdempotencyStore store;

	private boolean namesStore;

	private @Nullable TransactionStarter transactions;

	private List<String> key = List.of();

	private @Nullable String token;

	private @Nullable String scope;

	private @Nullable Fingerprint fingerprint;

	private IdempotencyMode mode = IdempotencyMode.REPLAY;

	private ConflictMode conflict = ConflictMode.DEFAULT;

	private @Nullable Duration waitTimeout;

	private FailureMode onFailure = FailureMode.DEFAULT;

	private AbandonedMode onAbandoned;

	private boolean keepResult = true;

	private @Nullable Duration retention;

	private @Nullable Duration lease;

	private @Nullable Callable<?> recovery;

	private List<Class<? extends Throwable>> duplicateOn = List.of();

	EngineCall(String operation, EngineIdempotencyTemplate template) {
		this.operation = operation;
		this.template = template;
		this.store = template.store;
		this.onAbandoned = template.defaults.onAbandoned();
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
					+ "' is missing, and a key must never be shared by mistake: give the scope, or do not call scope(...) where all callers share one");
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
	public IdempotencyTemplate.Call mode(IdempotencyMode mode) {
		this.mode = mode;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call conflict(ConflictMode conflict) {
		this.conflict = conflict;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call waitTimeout(Duration waitTimeout) {
		this.waitTimeout = waitTimeout;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call onFailure(FailureMode onFailure) {
		this.onFailure = onFailure;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call onAbandoned(AbandonedMode onAbandoned) {
		this.onAbandoned = onAbandoned;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call keepResult(boolean keepResult) {
		this.keepResult = keepResult;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call retention(Duration retention) {
		this.retention = retention;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call lease(Duration lease) {
		this.lease = lease;
		return this;
	}

	@Override
	public IdempotencyTemplate.Call store(String name) {
		this.store = this.template.environment.store(name);
		this.namesStore = true;
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
	public IdempotencyTemplate.Call duplicateOn(Class<? extends Throwable> failure) {
		if (this.duplicateOn.isEmpty()) {
			this.duplicateOn = new ArrayList<>();
		}
		this.duplicateOn.add(failure);
		return this;
	}

	@Override
	public <T> @Nullable T execute(Class<T> type, Supplier<? extends @Nullable T> action) {
		try {
			return guard(declared(type), action::get);
		}
		catch (Throwable ex) {
			throw EngineCall.<RuntimeException>unchanged(ex);
		}
	}

	@Override
	public <T> CompletableFuture<@Nullable T> executeAsync(Class<T> type,
			Supplier<? extends CompletionStage<? extends @Nullable T>> action) {
		try {
			TemplateResult value = declared(type);
			if (value.async()) {
				throw new IllegalArgumentException("The future of '" + this.operation + "' is that of a value");
			}
			return guardAsync(new TemplateResult(value.type(), true), action);
		}
		catch (Throwable ex) {
			throw EngineCall.<RuntimeException>unchanged(ex);
		}
	}

	@SuppressWarnings("unchecked")
	private <T> CompletableFuture<@Nullable T> guardAsync(TemplateResult result,
			Supplier<? extends CompletionStage<? extends @Nullable T>> action) throws Throwable {
		CompletionStage<? extends @Nullable T> stage = this.<CompletionStage<? extends @Nullable T>>guard(result,
				action::get);
		return (stage != null) ? (CompletableFuture<@Nullable T>) stage.toCompletableFuture()
				: CompletableFuture.completedFuture(null);
	}

	@Override
	public <T> @Nullable T call(Type type, Callable<? extends @Nullable T> action) throws Exception {
		try {
			return guard(declared(type), action);
		}
		catch (Throwable ex) {
			throw EngineCall.<Exception>unchanged(ex);
		}
	}

	/**
	 * Throws any exception without declaring it, because code in other languages throws
	 * checked exceptions that it has not declared.
	 */
	@SuppressWarnings("unchecked")
	private static <X extends Throwable> X unchanged(Throwable ex) throws X {
		throw (X) ex;
	}

	@Override
	public void run(Runnable action) {
		execute(Void.class, () -> {
			action.run();
			return null;
		});
	}

	/**
	 * Describes this call for an engine that joins no transactions, and waits for none.
	 */
	<T> DescribedCall<T> describe(Type type) {
		TemplateResult result = declared(type);
		if (result.async()) {
			throw new IllegalArgumentException("The Mono of '" + this.operation + "' is that of a value");
		}
		if (this.transactions != null) {
			throw refused("it joins a transaction, which a call that must not block cannot", "Do not join");
		}
		return new DescribedCall<>(guarded(result), new Action<T>(result, () -> null), this.recovery);
	}

	/**
	 * Checks the declared type before the action runs: a result that could not be
	 * replayed is refused on the first call already.
	 */
	private TemplateResult declared(Type type) {
		boolean replayed = this.mode == IdempotencyMode.REPLAY && this.keepResult;
		return this.template.result(this.operation, type, replayed);
	}

	private <T> @Nullable T guard(TemplateResult result, Callable<? extends @Nullable T> action) throws Throwable {
		return this.template.engine.execute(guarded(result), new Action<T>(result, action), this.transactions);
	}

	private GuardedCall guarded(TemplateResult result) {
		check(result);
		return new GuardedCall(key(), (this.fingerprint != null) ? this.fingerprint : Fingerprint.NONE, policy(),
				this.store);
	}

	private void check(TemplateResult result) {
		boolean token = this.token != null;
		new AttributeCheck(this.mode, this::refused).fingerprint(this.fingerprint != null)
			.conflict(this.conflict, this.waitTimeout != null)
			.result(this.onFailure, this.keepResult)
			.recover(this.recovery != null, !this.duplicateOn.isEmpty())
			.token(token, this.scope != null, this.namesStore);
		if (token && !this.key.isEmpty()) {
			throw refused("it has a key and a token", "Give it one of the two");
		}
		if (this.transactions != null && result.async()) {
			throw refused("it joins a transaction, and its work goes on after that has ended",
					"Return the result itself, or do not join");
		}
		if (this.transactions != null && this.store.joining().isEmpty()) {
			throw refused("it joins a transaction, and its store has none to join",
					"Use the JDBC store, or do not join");
		}
	}

	private IllegalArgumentException refused(String problem, String action) {
		return new IllegalArgumentException(
				"The call of '" + this.operation + "' contradicts itself: " + problem + ". " + action);
	}

	private IdempotencyKey key() {
		if (this.token != null) {
			return this.template.namespace.token(this.template.environment.caller(), this.token);
		}
		if (this.key.isEmpty()) {
			throw new IdempotencyKeyMissingException(this.operation, "The call of '" + this.operation
					+ "' has no key: call key(…) with parts that are not empty, or token(…)");
		}
		Caller caller = (this.scope != null) ? Caller.scope(this.scope) : Caller.GLOBAL;
		return this.template.namespace.key(this.operation, caller, this.key);
	}

	private IdempotencyPolicy policy() {
		return this.template.defaults.change()
			.operation(this.operation)
			.mode(this.mode)
			.retention(this.retention)
			.lease(this.lease)
			.conflict(this.conflict)
			.waitTimeout(this.waitTimeout)
			.onFailure(this.onFailure)
			.onAbandoned(this.onAbandoned)
			.recoverable(this.recovery != null)
			.keepsResult(this.keepResult)
			.build();
	}

	/** Translates the call for the engine. */
	private final class Action<T> extends ValueAction<T> {

		private final Callable<? extends @Nullable T> action;

		Action(TemplateResult result, Callable<? extends @Nullable T> action) {
			super(EngineCall.this.template.codec(EngineCall.this.operation), result.type(), result.async());
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
			return EngineCall.this.duplicateOn.stream().anyMatch((type) -> type.isInstance(failure));
		}

	}

}
