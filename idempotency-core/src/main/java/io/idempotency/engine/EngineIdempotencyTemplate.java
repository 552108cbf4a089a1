package io.idempotency.engine;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.KeyParts;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * The programmatic door: {@link IdempotencyTemplate} on the engine.
 *
 * @since 0.1.0
 */
public final class EngineIdempotencyTemplate implements IdempotencyTemplate {

	private final IdempotencyEngine engine;

	private final IdempotencyStore store;

	private final ResultCodec codec;

	private final IdempotencyPolicy defaults;

	/**
	 * Creates a template.
	 * @param engine the engine
	 * @param store where records are kept
	 * @param codec encodes results
	 * @param defaults what a call wants unless it says otherwise
	 */
	public EngineIdempotencyTemplate(IdempotencyEngine engine, IdempotencyStore store, ResultCodec codec,
			IdempotencyPolicy defaults) {
		this.engine = engine;
		this.store = store;
		this.codec = codec;
		this.defaults = defaults;
	}

	@Override
	public Call operation(String operation) {
		return new EngineCall(operation);
	}

	private final class EngineCall implements Call {

		private final String operation;

		private final IdempotencyPolicy defaults = EngineIdempotencyTemplate.this.defaults;

		private List<String> key = List.of();

		private Caller caller = Caller.GLOBAL;

		private Fingerprint fingerprint = Fingerprint.NONE;

		private IdempotencyMode mode = IdempotencyMode.REPLAY;

		private ConflictMode conflict = ConflictMode.DEFAULT;

		private Duration waitTimeout = this.defaults.waitTimeout();

		private FailureMode onFailure = FailureMode.DEFAULT;

		private AbandonedMode onAbandoned = this.defaults.onAbandoned();

		private Duration retention = this.defaults.retention();

		private Duration lease = this.defaults.lease();

		EngineCall(String operation) {
			this.operation = operation;
		}

		@Override
		public Call key(Object... parts) {
			this.key = KeyParts.of(parts);
			return this;
		}

		@Override
		public Call scope(String scope) {
			this.caller = Caller.scope(scope);
			return this;
		}

		@Override
		public Call fingerprint(@Nullable Object... parts) {
			Fingerprint.Builder builder = Fingerprint.of("values1");
			for (Object part : parts) {
				builder.add(KeyParts.text(part));
			}
			this.fingerprint = builder.build();
			return this;
		}

		@Override
		public Call mode(IdempotencyMode mode) {
			this.mode = mode;
			return this;
		}

		@Override
		public Call conflict(ConflictMode conflict) {
			this.conflict = conflict;
			return this;
		}

		@Override
		public Call waitTimeout(Duration waitTimeout) {
			this.waitTimeout = waitTimeout;
			return this;
		}

		@Override
		public Call onFailure(FailureMode onFailure) {
			this.onFailure = onFailure;
			return this;
		}

		@Override
		public Call onAbandoned(AbandonedMode onAbandoned) {
			this.onAbandoned = onAbandoned;
			return this;
		}

		@Override
		public Call retention(Duration retention) {
			this.retention = retention;
			return this;
		}

		@Override
		public Call lease(Duration lease) {
			this.lease = lease;
			return this;
		}

		@Override
		public <T> @Nullable T execute(Class<T> type, Supplier<? extends @Nullable T> action) {
			try {
				return guard(type, action::get);
			}
			catch (Throwable ex) {
				throw EngineCall.<RuntimeException>unchanged(ex);
			}
		}

		@Override
		public <T> @Nullable T call(Type type, Callable<? extends @Nullable T> action) throws Exception {
			try {
				return guard(type, action);
			}
			catch (Throwable ex) {
				throw EngineCall.<Exception>unchanged(ex);
			}
		}

		/** Code of other languages throws what it has not declared. */
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

		private <T> @Nullable T guard(Type type, Callable<? extends @Nullable T> action) throws Throwable {
			if (this.key.isEmpty()) {
				throw new IdempotencyKeyMissingException(this.operation,
						"The call of '" + this.operation + "' has no key: call key(…) with parts that are not empty");
			}
			IdempotencyKey key = IdempotencyKey.of(this.operation, this.caller, this.key);
			GuardedCall call = new GuardedCall(key, this.fingerprint, policy(), EngineIdempotencyTemplate.this.store);
			return EngineIdempotencyTemplate.this.engine.execute(call,
					new SuppliedAction<T>(EngineIdempotencyTemplate.this.codec, type, action));
		}

		private IdempotencyPolicy policy() {
			ConflictMode conflict = (this.conflict != ConflictMode.DEFAULT) ? this.conflict : this.defaults.conflict();
			FailureMode onFailure = (this.onFailure != FailureMode.DEFAULT) ? this.onFailure
					: this.defaults.onFailure();
			return new IdempotencyPolicy(this.operation, this.mode, this.retention, this.lease, this.defaults.renewal(),
					conflict, this.waitTimeout, onFailure, this.onAbandoned, false, this.defaults.onStoreFailure());
		}

	}

	private static final class SuppliedAction<T> extends ValueAction<T> {

		private final Callable<? extends @Nullable T> action;

		SuppliedAction(ResultCodec codec, Type type, Callable<? extends @Nullable T> action) {
			super(codec, type, false);
			this.action = action;
		}

		@Override
		public @Nullable T run() throws Throwable {
			return this.action.call();
		}

		@Override
		public @Nullable T recover() {
			return null;
		}

		@Override
		public boolean isDuplicate(Throwable failure) {
			return false;
		}

	}

}
