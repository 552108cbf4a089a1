package io.idempotency.engine;

import java.lang.reflect.Type;

import io.idempotency.Internal;
import io.idempotency.key.Caller;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * The application around a template, as far as the template needs it. Thread-safe.
 *
 * @hidden
 */
@Internal
public interface TemplateEnvironment {

	/** An application without codecs, named stores, transactions and callers. */
	TemplateEnvironment NONE = new TemplateEnvironment() {

		@Override
		public @Nullable ResultCodec codec(String operation) {
			return null;
		}

		@Override
		public IdempotencyStore store(String name) {
			throw new IllegalArgumentException("There is no store '" + name + "'");
		}

		@Override
		public TransactionStarter transactions() {
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
	 * Returns the codec for the results of one operation.
	 * @param operation name of the operation
	 * @return the codec, {@code null} for the template's own
	 */
	@Nullable ResultCodec codec(String operation);

	/**
	 * Finds a store.
	 * @param name name of the bean
	 * @throws IllegalArgumentException if there is none
	 */
	IdempotencyStore store(String name);

	/**
	 * Finds the transactions that a call may join.
	 * @throws IllegalArgumentException if there are none, or several
	 */
	TransactionStarter transactions();

	/** Returns the current caller, to whom tokens belong. */
	Caller caller();

	/**
	 * Returns the HTTP status that a failure asks for; it is remembered together with the
	 * failure.
	 * @param failure the exception of an action
	 * @return the status, 0 if it asks for none
	 */
	int statusOf(Throwable failure);

	/**
	 * Returns whether the work of a result continues after the action returned.
	 * @param type the declared type of the result
	 */
	default boolean isDeferred(Type type) {
		return DeferredResults.OF_JDK.include(type);
	}

}
