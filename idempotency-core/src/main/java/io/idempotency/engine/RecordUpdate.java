package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.store.Completion;
import org.jspecify.annotations.Nullable;

/**
 * The change of a record at the end of its claim, as decided by {@link ClaimCompletion}.
 *
 * @hidden
 */
@Internal
public sealed interface RecordUpdate {

	/** See {@link Nothing}. */
	RecordUpdate NOTHING = new Nothing();

	/** See {@link Leave}. */
	RecordUpdate LEAVE = new Leave();

	/** See {@link Defer}. */
	RecordUpdate HOLD = new Defer();

	/** Returns the change of the record, regardless of which component writes it. */
	default RecordUpdate change() {
		return this;
	}

	/**
	 * The record is completed.
	 *
	 * @param completion the request to the store
	 * @hidden
	 */
	record Complete(Completion completion) implements RecordUpdate {

		/** Returns whether the record is removed. */
		boolean isRemoval() {
			return this.completion.retention().isZero();
		}

		/** Returns whether duplicates find the record without a result. */
		public boolean isWithoutResult() {
			return this.completion.type() == Completion.Type.WITHOUT_RESULT && !isRemoval();
		}

		/** Returns whether duplicates find a result. */
		public boolean isResult() {
			return this.completion.type() == Completion.Type.RESULT && !isRemoval();
		}

		/** Returns the same completion for a store for which the result is too large. */
		public Complete withoutResult() {
			return new Complete(Completion.withoutResult(this.completion.claim(), this.completion.fingerprint(),
					this.completion.retention(), this.completion.kind()));
		}

	}

	/**
	 * The record is marked as committed; its result is attached later.
	 *
	 * @param completion the request to the store
	 * @hidden
	 */
	record Attach(Completion completion) implements RecordUpdate {
	}

	/**
	 * The key is released.
	 *
	 * @param cause the exception of a failed call, {@code null} without an exception
	 * @hidden
	 */
	record Release(@Nullable Throwable cause) implements RecordUpdate {
	}

	/**
	 * The transaction of the work made the change, or removed the record by its rollback.
	 * Nothing is sent to the store.
	 *
	 * @param change the change of the record
	 * @hidden
	 */
	record Applied(RecordUpdate change) implements RecordUpdate {
	}

	/**
	 * The claim is final, so nothing is written.
	 *
	 * @hidden
	 */
	record Nothing() implements RecordUpdate {
	}

	/**
	 * The claim is not renewed any more, and the key stays claimed until the lease
	 * expires.
	 *
	 * @hidden
	 */
	record Leave() implements RecordUpdate {
	}

	/**
	 * Nothing happens now: the outcome is deferred until the transaction ended, or comes
	 * too late.
	 *
	 * @hidden
	 */
	record Defer() implements RecordUpdate {
	}

}
