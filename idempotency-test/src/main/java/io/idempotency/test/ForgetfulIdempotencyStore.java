package io.idempotency.test;

import java.time.InstantSource;
import java.util.function.Supplier;

import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * In-memory store that can delete all records, for tests that share an application but
 * not its records. Thread-safe. If a call is in progress when the records are deleted, it
 * loses its claim.
 *
 * @since 0.1.0
 */
public final class ForgetfulIdempotencyStore extends ForwardingIdempotencyStore {

	private static final long MAX_BYTES = 16 * 1024 * 1024;

	private final Supplier<MemoryIdempotencyStore> empty;

	private volatile IdempotencyStore store;

	/**
	 * Creates a store with a monotonic clock.
	 */
	public ForgetfulIdempotencyStore() {
		this(() -> new MemoryIdempotencyStore(MAX_BYTES));
	}

	/**
	 * Creates a store.
	 * @param clock the clock for leases and retentions
	 */
	public ForgetfulIdempotencyStore(InstantSource clock) {
		this(() -> new MemoryIdempotencyStore(MAX_BYTES, clock));
	}

	private ForgetfulIdempotencyStore(Supplier<MemoryIdempotencyStore> empty) {
		super(empty.get());
		this.empty = empty;
		this.store = super.delegate();
	}

	/**
	 * Deletes the records of all keys and tokens.
	 */
	public void forget() {
		this.store = this.empty.get();
	}

	@Override
	protected IdempotencyStore delegate() {
		return this.store;
	}

	/** Clears the store of the test's application. */
	static final class Emptying implements BeforeEachCallback {

		@Override
		public void beforeEach(ExtensionContext context) {
			SpringExtension.getApplicationContext(context).getBean(ForgetfulIdempotencyStore.class).forget();
		}

	}

}
