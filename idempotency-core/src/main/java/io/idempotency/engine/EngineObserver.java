package io.idempotency.engine;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.Internal;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
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
		IdempotencyStore observed = EventPublisher.attempt(() -> observer.observed(store),
				(ex) -> LoggerFactory.getLogger(EngineObserver.class)
					.warn("[IDEM-116] The store observer failed: store {} has no metrics until the application "
							+ "restarts. Calls are not affected. Fix the cause and restart.",
							store.getClass().getSimpleName(), ex));
		return (observed != null) ? observed : store;
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
		 * @param failure the exception of the call or its rejection, {@code null} if there
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

	/**
	 * One call as its observer is told about it: exactly one end, whichever part of the
	 * engine sees it first. A call that owns its key ends with its claim, any other call
	 * with its answer. No failure of the observer leaves this class. Thread-safe.
	 *
	 * @hidden
	 */
	final class ObservedCall {

		/** A call without an observer and without a log; this object keeps no state. */
		static final ObservedCall NONE = new ObservedCall(null, null, new EventPublisher((event, operation) -> {
		}));

		private static final Logger logger = LoggerFactory.getLogger(ObservedCall.class);

		private static final EngineObserver.Scope NO_SCOPE = () -> {
		};

		private final @Nullable GuardedCall call;

		private final EngineObserver.@Nullable SeenCall observation;

		private final EventPublisher events;

		private final AtomicBoolean ended = new AtomicBoolean();

		private volatile boolean owner;

		/** The outcome of a call that ends well, where its end alone does not tell it. */
		private volatile @Nullable IdempotencyOutcome seenAs;

		private ObservedCall(@Nullable GuardedCall call, EngineObserver.@Nullable SeenCall observation,
				EventPublisher events) {
			this.call = call;
			this.observation = observation;
			this.events = events;
		}

		/** Begins the observation of a call, if anybody wants to see it. */
		static ObservedCall start(EngineObserver observer, GuardedCall call, @Nullable Object parent,
				EventPublisher events) {
			EngineObserver.SeenCall observation = EventPublisher.attempt(() -> observer.started(call, parent),
					events::notObserved);
			return (observation != null || logger.isDebugEnabled()) ? new ObservedCall(call, observation, events)
					: NONE;
		}

		/** Makes this call the current one of the thread. */
		public EngineObserver.Scope open() {
			EngineObserver.SeenCall seen = this.observation;
			if (seen == null) {
				return NO_SCOPE;
			}
			EngineObserver.Scope scope = EventPublisher.attempt(seen::open, this.events::notObserved);
			return (scope != null) ? () -> observe(scope::close) : NO_SCOPE;
		}

		private void observe(Runnable step) {
			EventPublisher.run(step, this.events::notObserved);
		}

		/**
		 * Returns what the observations of the work are below, {@code null} if nobody
		 * looks.
		 */
		public @Nullable Object observation() {
			return (this.observation != null) ? this.observation.observation() : null;
		}

		/** Notes that the call owns its key, so that the end of its claim is its end. */
		public void owns() {
			if (this != NONE) {
				this.owner = true;
			}
		}

		/** Notes the outcome of a call whose end alone does not tell it. */
		public void seenAs(IdempotencyOutcome outcome) {
			if (this != NONE) {
				this.seenAs = outcome;
			}
		}

		/**
		 * Ends the observation of a call that was given the result of the first one.
		 * @param first where the claim of the first call came from
		 */
		public void replayed(ClaimOrigin first) {
			EngineObserver.SeenCall seen = this.observation;
			if (seen != null) {
				observe(() -> seen.replays(first));
			}
			end(IdempotencyOutcome.REPLAYED, null);
		}

		/** Notes that the call has returned to its caller. */
		public void returned() {
			if (this != NONE && !this.owner) {
				end(or(IdempotencyOutcome.EXECUTED), null);
			}
		}

		/** Notes that the call has thrown. */
		public void threw(Throwable thrown) {
			if (this != NONE && !this.owner) {
				end(or(outcome(thrown)), thrown);
			}
		}

		/**
		 * Notes that the claim of the call has ended.
		 * @param ending how the call has ended
		 * @param write what became of the record
		 * @param accepted whether the store has accepted that, as far as it is known
		 */
		public void claimEnded(CallOutcome ending, RecordUpdate write, boolean accepted) {
			if (this != NONE) {
				end(accepted ? or(outcome(ending, write)) : IdempotencyOutcome.LEASE_LOST, failure(ending));
			}
		}

		/** Notes that the claim of the call is left to its lease. */
		public void claimLeft() {
			end(IdempotencyOutcome.INDETERMINATE, null);
		}

		/** Ends the observation; the first end counts. */
		public void end(IdempotencyOutcome outcome, @Nullable Throwable failure) {
			GuardedCall call = this.call;
			if (call == null || !this.ended.compareAndSet(false, true)) {
				return;
			}
			if (logger.isDebugEnabled()) {
				// The message of a failure may hold a key.
				String thrown = (failure != null) ? failure.getClass().getName() : "no exception";
				EventPublisher.write(() -> logger.debug("Call of '{}' (record {}, mode {}): {}, {}", call.operation(),
						call.key().hashHex(), call.options().mode(), outcome.value(), thrown));
			}
			EngineObserver.SeenCall seen = this.observation;
			if (seen != null) {
				observe(() -> seen.ended(outcome, failure));
			}
		}

		private IdempotencyOutcome or(IdempotencyOutcome usual) {
			IdempotencyOutcome known = this.seenAs;
			return (known != null) ? known : usual;
		}

		/** The outcome of a rejected call has the name of its problem code. */
		private static IdempotencyOutcome outcome(Throwable thrown) {
			String code = (thrown instanceof IdempotencyException rejection) ? rejection.code() : "";
			return Arrays.stream(IdempotencyOutcome.values())
				.filter((outcome) -> outcome.value().equals(code))
				.findFirst()
				.orElse(IdempotencyOutcome.FAILED);
		}

		private static IdempotencyOutcome outcome(CallOutcome ending, RecordUpdate write) {
			if (ending instanceof CallOutcome.Failed) {
				return IdempotencyOutcome.FAILED;
			}
			return (write.change() instanceof RecordUpdate.Release) ? IdempotencyOutcome.RELEASED
					: IdempotencyOutcome.EXECUTED;
		}

		private static @Nullable Throwable failure(CallOutcome ending) {
			if (ending instanceof CallOutcome.Failed failed) {
				return failed.cause();
			}
			return (ending instanceof CallOutcome.NotRun notRun) ? notRun.cause() : null;
		}

	}

}
