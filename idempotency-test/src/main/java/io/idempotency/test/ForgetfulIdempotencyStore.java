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
 * A store in memory that can forget all records, for tests that share an application but
 * no records. It is thread-safe. A call that still runs when the store forgets loses its
 * claim.
 *
 * @since 0.1.0
 */
public final class ForgetfulIdempotencyStore extends ForwardingIdempotencyStore {

	private static final long MAX_BYTES = 16 * 1024 * 1024;

	private final Supplier<MemoryIdempotencyStore> empty;

	private volatile IdempotencyStore store;

	/**
	 * Creates a store with a clock that never steps.
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
	 * Forgets all keys and tokens.
	 */
	public void forget() {
		this.store = this.empty.get();
	}

	@Override
	protected IdempotencyStore delegate() {
		return this.store;
	}

	/** Empties the store of the test's application. */
	static final class Emptying implements BeforeEachCallback {

		@Override
		public void beforeEach(ExtensionContext context) {
			SpringExtension.getApplicationContext(context).getBean(ForgetfulIdempotencyStore.class).forget();
		}

	}

}
