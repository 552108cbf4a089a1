package io.idempotency.engine;

import io.idempotency.IdempotencyOutcome;
import io.idempotency.Internal;
import io.idempotency.store.ClaimOrigin;
import org.jspecify.annotations.Nullable;

/**
 * The observation of one guarded call. Thread-safe: the end of an asynchronous call comes
 * on another thread than its start.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public interface CallObservation {

	/** The scope of an observation that nobody wants. */
	Scope NO_SCOPE = () -> {
	};

	/** The observation of a call that nobody wants to see. */
	CallObservation NONE = new CallObservation() {

		@Override
		public Scope open() {
			return NO_SCOPE;
		}

		@Override
		public void ended(IdempotencyOutcome outcome, @Nullable Throwable failure) {
		}

	};

	/**
	 * Makes the observation the current one of this thread. The engine does so while the
	 * call runs, and while it ends on another thread.
	 * @return the scope, to be closed by the same thread
	 */
	Scope open();

	/**
	 * Is told that the call is given the result of the first call with its key, before it
	 * is told the end.
	 * @param first where the claim of the first call came from
	 */
	default void replays(ClaimOrigin first) {
	}

	/**
	 * Is told once how the call has ended.
	 * @param outcome how it has ended
	 * @param failure the exception of the call or its refusal, {@code null} if there is
	 * none
	 */
	void ended(IdempotencyOutcome outcome, @Nullable Throwable failure);

	/**
	 * The time in which an observation is the current one of a thread.
	 *
	 * @hidden
	 */
	@FunctionalInterface
	interface Scope extends AutoCloseable {

		@Override
		void close();

	}

}
