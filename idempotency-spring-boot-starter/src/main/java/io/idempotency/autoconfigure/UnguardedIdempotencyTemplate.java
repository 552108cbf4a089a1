package io.idempotency.autoconfigure;

import java.lang.reflect.Type;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.TransactionMode;
import org.jspecify.annotations.Nullable;

/**
 * The template for {@code idempotency.enabled=false}: it runs every action and ignores
 * the key.
 */
final class UnguardedIdempotencyTemplate implements IdempotencyTemplate {

	static final UnguardedIdempotencyTemplate INSTANCE = new UnguardedIdempotencyTemplate();

	private static final Call CALL = new UnguardedCall();

	private UnguardedIdempotencyTemplate() {
	}

	@Override
	public Call operation(String operation) {
		return CALL;
	}

	/** A call that ignores all its settings. */
	private static final class UnguardedCall implements Call {

		@Override
		public Call key(Object... parts) {
			return this;
		}

		@Override
		public Call scope(String scope) {
			return this;
		}

		@Override
		public Call fingerprint(@Nullable Object... parts) {
			return this;
		}

		@Override
		public Call options(Consumer<? super IdempotencyOptions.Builder> options) {
			return this;
		}

		@Override
		public Call token(String token) {
			return this;
		}

		@Override
		public Call store(String name) {
			return this;
		}

		@Override
		public Call transaction(TransactionMode transaction) {
			return this;
		}

		@Override
		public Call recover(Callable<?> recovery) {
			return this;
		}

		@Override
		public <T> CompletableFuture<@Nullable T> executeAsync(Class<T> type,
				Supplier<? extends CompletionStage<? extends @Nullable T>> action) {
			// A guarded call also returns a future of its own, whatever the stage is.
			CompletableFuture<@Nullable T> result = new CompletableFuture<>();
			action.get().whenComplete((value, failure) -> {
				if (failure != null) {
					result.completeExceptionally(failure);
				}
				else {
					result.complete(value);
				}
			});
			return result;
		}

		@Override
		public <T> @Nullable T execute(Class<T> type, Supplier<? extends @Nullable T> action) {
			return action.get();
		}

		@Override
		public <T> @Nullable T call(Type type, Callable<? extends @Nullable T> action) throws Exception {
			return action.call();
		}

		@Override
		public void run(Runnable action) {
			action.run();
		}

	}

}
