package io.idempotency.interceptor;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

class TemplateValueCallTests extends ValueCallContract {

	private final IdempotencyEngine engine = new IdempotencyEngine(10, IdempotencyListener.NONE);

	private final IdempotencyTemplate template = new DefaultIdempotencyTemplate(this.engine,
			new MemoryIdempotencyStore(1 << 20), new Jackson2ResultCodec(), IdempotencyOptions.DEFAULTS);

	private final Payments payments = new Templated();

	@AfterEach
	void close() {
		this.engine.close();
	}

	@Override
	Payments payments() {
		return this.payments;
	}

	private IdempotencyTemplate.Call operation(String name, String key) {
		return this.template.operation(name).key(key);
	}

	private final class Templated implements Payments {

		@Override
		public @Nullable Receipt pay(String key, Callable<@Nullable Receipt> work) throws Exception {
			return operation("pay", key).call(Receipt.class, work);
		}

		@Override
		public @Nullable Receipt compared(String key, int amount, Callable<Receipt> work) throws Exception {
			return operation("compared", key).fingerprint(amount).call(Receipt.class, work);
		}

		@Override
		public @Nullable Receipt remembered(String key, Callable<Receipt> work) throws Exception {
			return operation("remembered", key).onFailure(FailureMode.REMEMBER).call(Receipt.class, work);
		}

		@Override
		public @Nullable Receipt once(String key, Callable<Receipt> work) throws Exception {
			return operation("once", key).mode(IdempotencyMode.REJECT).call(Receipt.class, work);
		}

		@Override
		public @Nullable Receipt locked(String key, Callable<Receipt> work) throws Exception {
			return operation("locked", key).mode(IdempotencyMode.LOCK).call(Receipt.class, work);
		}

		@Override
		public @Nullable Receipt recovered(String key, Callable<Receipt> work) throws Exception {
			return operation("recovered", key).duplicateOn(AlreadyThereException.class)
				.recover(() -> TemplateValueCallTests.this.ledger.get(key))
				.call(Receipt.class, work);
		}

		@Override
		public @Nullable Receipt unkept(String key, Callable<Receipt> work) throws Exception {
			return operation("unkept", key).keepResult(false).call(Receipt.class, work);
		}

		@Override
		public CompletableFuture<@Nullable Receipt> later(String key, Supplier<CompletableFuture<Receipt>> work) {
			return operation("later", key).executeAsync(Receipt.class, work::get);
		}

	}

}
