package io.idempotency.engine;

import io.idempotency.IdempotencyOutcome;
import io.idempotency.Internal;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Sees what an engine does: each guarded call from its start to its end, and what is
 * asked of the stores. An observer can never change the outcome of a call: its failures
 * are logged. Thread-safe.
 *
 * @hidden
 */
@Internal
public interface EngineObserver {

	/** Sees nothing. */
	EngineObserver NONE = new EngineObserver() {
	};

	/**
	 * Is told that a call has started.
	 * @return its observation, {@code null} if nobody wants to see it; no object is then
	 * made for it
	 */
	default @Nullable SeenCall started(GuardedCall call) {
		return null;
	}

	/**
	 * Is told that a call has started whose thread does not know what it is a part of.
	 * @param parent what the observation is below, as {@link SeenCall#observation()} of
	 * another call may be; {@code null} for what the thread knows
	 * @return its observation, as {@link #started(GuardedCall)} gives it
	 */
	default @Nullable SeenCall started(GuardedCall call, @Nullable Object parent) {
		return started(call);
	}

	/**
	 * Is asked once for each store. Returns the store that is asked in its place, which
	 * does the same.
	 */
	default IdempotencyStore observed(IdempotencyStore store) {
		return store;
	}

	/**
	 * Returns where a claim comes from that this thread makes now. Is asked once for each
	 * claim, so it must be quick.
	 */
	default ClaimOrigin origin() {
		return ClaimOrigin.UNKNOWN;
	}

	/** Returns the observed store; the store itself if it cannot be observed. */
	static IdempotencyStore observed(EngineObserver observer, IdempotencyStore store) {
		try {
			return observer.observed(store);
		}
		catch (Throwable ex) {
			// Errors too: an observer may be broken in any way, and the calls still go
			// on.
			LoggerFactory.getLogger("io.idempotency.engine.IdempotencyEngine")
				.warn("An observer of stores failed; {} is not observed", store.getClass().getSimpleName(), ex);
			return store;
		}
	}

	/**
	 * The observation of one call. Thread-safe: the end of an asynchronous call comes on
	 * another thread than its start.
	 *
	 * @hidden
	 */
	interface SeenCall {

		/**
		 * Makes the observation the current one of this thread. The engine does so while
		 * the call runs, and while it ends on another thread.
		 * @return the scope, to be closed by the same thread
		 */
		Scope open();

		/**
		 * Returns what the observations of the work are below, where no thread knows it.
		 * @return the observation, {@code null} if there is none
		 */
		default @Nullable Object observation() {
			return null;
		}

		/**
		 * Is told that the call is given the result of the first call with its key,
		 * before it is told the end.
		 * @param first where the claim of the first call came from
		 */
		default void replays(ClaimOrigin first) {
		}

		/**
		 * Is told once how the call has ended.
		 * @param failure the exception of the call or its refusal, {@code null} if there
		 * is none
		 */
		void ended(IdempotencyOutcome outcome, @Nullable Throwable failure);

	}

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

	/**
	 * A store that measures what is asked of another one. A driver that asks a form of
	 * its own of that other store tells here how long that took. Thread-safe.
	 *
	 * @hidden
	 */
	interface MeasuringStore extends IdempotencyStore {

		/** Returns the store that is measured. */
		IdempotencyStore measured();

		/**
		 * Notes a verb that did not go through this store.
		 * @param verb what was asked
		 * @param answered whether the store has answered, and not failed
		 * @param nanos how long it took
		 */
		void took(Verb verb, boolean answered, long nanos);

		/** A verb of the protocol. */
		enum Verb {

			CLAIM, LOOK, COMPLETE, RELEASE, RENEW, ISSUE

		}

	}

}
