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
 * Observes the work of an engine: each guarded call from its start to its end, and the
 * operations of the stores. An observer never changes the outcome of a call: its failures
 * are logged. Thread-safe.
 *
 * @hidden
 */
@Internal
public interface EngineObserver {

	/** Observes nothing. */
	EngineObserver NONE = new EngineObserver() {
	};

	/**
	 * Starts the observation of a call.
	 * @return the observation, {@code null} if the call is not observed; no further
	 * object is then created for it
	 */
	default @Nullable SeenCall started(GuardedCall call) {
		return null;
	}

	/**
	 * Starts the observation of a call whose thread does not have the parent observation.
	 * @param parent the parent observation, for example {@link SeenCall#observation()} of
	 * another call; {@code null} for that of the thread
	 * @return the observation, as in {@link #started(GuardedCall)}
	 */
	default @Nullable SeenCall started(GuardedCall call, @Nullable Object parent) {
		return started(call);
	}

	/**
	 * Returns the store that replaces the given one and behaves in the same way. Called
	 * once for each store.
	 */
	default IdempotencyStore observed(IdempotencyStore store) {
		return store;
	}

	/**
	 * Returns the origin of a claim that the current thread makes. Called once for each
	 * claim, so it must be fast.
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
	 * The observation of one call. Thread-safe: an asynchronous call may end on another
	 * thread than the one that started it.
	 *
	 * @hidden
	 */
	interface SeenCall {

		/**
		 * Makes this observation the current one of the thread. The engine calls this
		 * method while the call runs, and while it ends on another thread.
		 * @return the scope, to be closed by the same thread
		 */
		Scope open();

		/**
		 * Returns the parent for the observations of the work, for threads without a
		 * current observation.
		 * @return the observation, {@code null} if it does not exist
		 */
		default @Nullable Object observation() {
			return null;
		}

		/**
		 * Notes that the call receives the result of the first call with its key. Called
		 * before {@link #ended}.
		 * @param first the origin of the claim of the first call
		 */
		default void replays(ClaimOrigin first) {
		}

		/**
		 * Notes the outcome of the call. Called once.
		 * @param failure the exception of the call or its rejection, {@code null} without
		 * an exception
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
	 * A store that measures the operations of another store. An engine that calls a
	 * different interface of that other store reports the duration here. Thread-safe.
	 *
	 * @hidden
	 */
	interface MeasuringStore extends IdempotencyStore {

		/** Returns the store that is measured. */
		IdempotencyStore measured();

		/**
		 * Notes an operation that did not go through this store.
		 * @param verb the operation
		 * @param answered whether the store responded without a failure
		 * @param nanos the duration
		 */
		void took(Verb verb, boolean answered, long nanos);

		/** An operation of the protocol. */
		enum Verb {

			CLAIM, LOOK, COMPLETE, RELEASE, RENEW, ISSUE

		}

	}

	/**
	 * One call, as reported to its observer: with exactly one end, whichever part of the
	 * engine detects it first. A call that owns its key ends with its claim. Any other
	 * call ends when it returns or throws. No exception of the observer leaves this
	 * class. Thread-safe.
	 *
	 * @hidden
	 */
	final class ObservedCall {

		/** A call without an observer and without a log. This object has no state. */
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

		/** The outcome of a successful call, if its end alone does not determine it. */
		private volatile @Nullable IdempotencyOutcome seenAs;

		private ObservedCall(@Nullable GuardedCall call, EngineObserver.@Nullable SeenCall observation,
				EventPublisher events) {
			this.call = call;
			this.observation = observation;
			this.events = events;
		}

		/** Begins the observation of a call, if the observer wants it. */
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
		 * Returns the parent for the observations of the work, {@code null} if the call
		 * is not observed.
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

		/** Notes the outcome of a call if its end alone does not determine it. */
		public void seenAs(IdempotencyOutcome outcome) {
			if (this != NONE) {
				this.seenAs = outcome;
			}
		}

		/**
		 * Ends the observation of a call that received the result of the first call.
		 * @param first the origin of the claim of the first call
		 */
		public void replayed(ClaimOrigin first) {
			EngineObserver.SeenCall seen = this.observation;
			if (seen != null) {
				observe(() -> seen.replays(first));
			}
			end(IdempotencyOutcome.REPLAYED, null);
		}

		/** Notes that the call returned to its caller. */
		public void returned() {
			if (this != NONE && !this.owner) {
				end(or(IdempotencyOutcome.EXECUTED), null);
			}
		}

		/** Notes that the call threw an exception. */
		public void threw(Throwable thrown) {
			if (this != NONE && !this.owner) {
				end(or(outcome(thrown)), thrown);
			}
		}

		/**
		 * Notes that the claim of the call ended.
		 * @param ending the outcome of the call
		 * @param write the update of the record
		 * @param accepted whether the store accepted the update, as far as is known
		 */
		public void claimEnded(CallOutcome ending, RecordUpdate write, boolean accepted) {
			if (this != NONE) {
				end(accepted ? or(outcome(ending, write)) : IdempotencyOutcome.LEASE_LOST, failure(ending));
			}
		}

		/** Notes that the key stays claimed until the lease expires. */
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
				// The message of a failure may contain a key.
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

		/**
		 * Returns the outcome of a rejected call, which has the name of its problem code.
		 */
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
