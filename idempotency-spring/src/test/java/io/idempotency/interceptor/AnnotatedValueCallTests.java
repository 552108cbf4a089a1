package io.idempotency.interceptor;

import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

class AnnotatedValueCallTests extends ValueCallContract {

	private final AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Annotated.class);

	AnnotatedValueCallTests() {
		this.context.getBean(Annotated.class).know(this.ledger);
	}

	@AfterEach
	void close() {
		this.context.close();
	}

	@Override
	Payments payments() {
		return this.context.getBean(Annotated.class);
	}

	static class Annotated implements Payments {

		private Map<String, Receipt> ledger = Map.of();

		public void know(Map<String, Receipt> ledger) {
			this.ledger = ledger;
		}

		@Override
		@Idempotent("#key")
		public @Nullable Receipt pay(String key, Callable<@Nullable Receipt> work) throws Exception {
			return work.call();
		}

		@Override
		@Idempotent(key = "#key", fingerprint = "#amount")
		public @Nullable Receipt compared(String key, int amount, Callable<Receipt> work) throws Exception {
			return work.call();
		}

		@Override
		@Idempotent(key = "#key", onFailure = FailureMode.REMEMBER)
		public @Nullable Receipt remembered(String key, Callable<Receipt> work) throws Exception {
			return work.call();
		}

		@Override
		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT)
		public @Nullable Receipt once(String key, Callable<Receipt> work) throws Exception {
			return work.call();
		}

		@Override
		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public @Nullable Receipt locked(String key, Callable<Receipt> work) throws Exception {
			return work.call();
		}

		@Override
		@Idempotent(key = "#key", duplicateOn = AlreadyThereException.class, recover = "lookUp")
		public @Nullable Receipt recovered(String key, Callable<Receipt> work) throws Exception {
			return work.call();
		}

		public @Nullable Receipt lookUp(String key, Callable<Receipt> work) {
			return this.ledger.get(key);
		}

		@Override
		@Idempotent(key = "#key", keepResult = false)
		public @Nullable Receipt unkept(String key, Callable<Receipt> work) throws Exception {
			return work.call();
		}

		@Override
		@Idempotent("#key")
		public CompletableFuture<@Nullable Receipt> later(String key, Supplier<CompletableFuture<Receipt>> work) {
			return work.get().thenApply((receipt) -> receipt);
		}

	}

}
