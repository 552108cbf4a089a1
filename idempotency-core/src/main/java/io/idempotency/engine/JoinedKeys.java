package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Scheduler;

/**
 * The keys whose records are in open transactions of this node. The database would let
 * another call of such a key wait for that transaction, with a connection of the
 * application; here it waits without one, in the row of all duplicates. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class JoinedKeys {

	/** The rest of the lease that is told of a record that nobody can see. */
	private static final ClaimResult.InProgress UNSEEN = new ClaimResult.InProgress(Duration.ofSeconds(1));

	private final ConcurrentHashMap<IdempotencyKey, Hold> holds = new ConcurrentHashMap<>();

	private final ConflictWaiter waiter;

	private final Scheduler scheduler;

	JoinedKeys(ConflictWaiter waiter, Scheduler scheduler) {
		this.waiter = waiter;
		this.scheduler = scheduler;
	}

	/**
	 * Makes what a call holds its key by.
	 * @param waits whether the call waits where another one runs with the key
	 */
	public Hold of(GuardedCall call, boolean waits) {
		return new Hold(call, waits);
	}

	/**
	 * What one call holds its key by, from before the begin of its transaction to the
	 * end.
	 *
	 * @hidden
	 */
	public final class Hold {

		private final IdempotencyKey key;

		private final Fingerprint fingerprint;

		/** Whether duplicates are counted, which the record alone can do. */
		private final boolean counted;

		private final boolean waits;

		/** Whether the call runs, as far as its transaction tells. */
		private volatile boolean owner;

		private Hold(GuardedCall call, boolean waits) {
			this.key = call.key();
			this.fingerprint = call.fingerprint();
			this.counted = call.options().mode() == IdempotencyMode.REJECT;
			this.waits = waits;
		}

		/**
		 * Takes the key, which is {@linkplain #free freed} when the transaction has
		 * ended.
		 * @return whether the call goes on to the record: no other call of this node has
		 * the key, or the mode counts duplicates
		 */
		public boolean take() {
			if (this.counted) {
				return true;
			}
			Hold other = JoinedKeys.this.holds.putIfAbsent(this.key, this);
			return other == null || other == this;
		}

		/**
		 * Waits on the calling thread, without the key, until the key is taken.
		 * @param admission of the call, which waits
		 * @param ends whether something else ends the wait before
		 * @return {@link Move#GO_ON}, or the answer if the wait is over
		 */
		public Move await(Admission admission, BooleanSupplier ends) {
			Move move = conflict(admission);
			return (move instanceof Move.Wait) ? JoinedKeys.this.waiter.await(admission,
					(send) -> (ends.getAsBoolean() || take()) ? Move.GO_ON : conflict(admission)) : move;
		}

		/**
		 * Decides what comes next, because another call has the key. That call may yet
		 * turn out to be a duplicate itself, so a call that does not wait for work, or is
		 * another one, waits until that is known.
		 * @param admission of the call, which waits
		 */
		public Move conflict(Admission admission) {
			Hold other = JoinedKeys.this.holds.get(this.key);
			if (other != null && other.owner) {
				if (!other.fingerprint.matches(this.fingerprint)) {
					return new Move.Answer(new ClaimResult.KeyReused());
				}
				if (!this.waits) {
					return new Move.Answer(UNSEEN);
				}
			}
			return admission.answered(UNSEEN, JoinedKeys.this.scheduler.nanos());
		}

		/** Notes that the call runs. */
		public void owns() {
			this.owner = true;
			JoinedKeys.this.waiter.wakeUp(this.key);
		}

		/**
		 * Frees the key, unless that was done before: another call may have it by now.
		 */
		public void free() {
			if (JoinedKeys.this.holds.remove(this.key, this)) {
				JoinedKeys.this.waiter.wakeUp(this.key);
			}
		}

	}

}
