package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.key.Caller;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * What a template asks of the application around it. Thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public interface TemplateSurroundings {

	/** An application of which nothing is known. */
	TemplateSurroundings NONE = new TemplateSurroundings() {

		@Override
		public @Nullable ResultCodec codec(String operation) {
			return null;
		}

		@Override
		public IdempotencyStore store(String name) {
			throw new IllegalArgumentException("There is no store '" + name + "'");
		}

		@Override
		public BusinessTransactions transactions() {
			throw new IllegalArgumentException("There are no transactions to join");
		}

		@Override
		public Caller caller() {
			return Caller.ANONYMOUS;
		}

		@Override
		public int statusOf(Throwable failure) {
			return 0;
		}

	};

	/**
	 * Encodes the results of one operation.
	 * @param operation name of the operation
	 * @return the codec, {@code null} for the template's own
	 */
	@Nullable ResultCodec codec(String operation);

	/**
	 * Finds a store.
	 * @param name name of the bean
	 * @return the store
	 * @throws IllegalArgumentException if there is none
	 */
	IdempotencyStore store(String name);

	/**
	 * Finds the transactions that a call may join.
	 * @return the transactions
	 * @throws IllegalArgumentException if there are none, or several
	 */
	BusinessTransactions transactions();

	/**
	 * The current caller, to whom tokens belong.
	 * @return the caller
	 */
	Caller caller();

	/**
	 * The HTTP status that a failure asks for, to be remembered with it.
	 * @param failure what an action has thrown
	 * @return the status, 0 if it asks for none
	 */
	int statusOf(Throwable failure);

}
