package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.store.Completion;
import org.jspecify.annotations.Nullable;

/**
 * The change of a record at the end of its claim, as {@link ClaimEnd} has decided it.
 *
 * @hidden
 */
@Internal
public sealed interface Write {

	/** See {@link Nothing}. */
	Write NOTHING = new Nothing();

	/** See {@link Leave}. */
	Write LEAVE = new Leave();

	/** See {@link Hold}. */
	Write HOLD = new Hold();

	/** Returns what becomes of the record, whoever writes it. */
	default Write change() {
		return this;
	}

	/**
	 * The record is completed.
	 *
	 * @param completion the request to the store
	 * @hidden
	 */
	record Complete(Completion completion) implements Write {

		/** Returns whether duplicates are told that there is no result. */
		public boolean isWithoutResult() {
			return this.completion.type() == Completion.Type.WITHOUT_RESULT && !this.completion.retention().isZero();
		}

		/** Returns whether duplicates are given a result. */
		public boolean isResult() {
			return this.completion.type() == Completion.Type.RESULT && !this.completion.retention().isZero();
		}

		/** Returns the same end for a store for which the result is too large. */
		public Complete withoutResult() {
			return new Complete(Completion.withoutResult(this.completion.claim(), this.completion.fingerprint(),
					this.completion.retention(), this.completion.kind()));
		}

	}

	/**
	 * The record says that the work is done; its result is attached later.
	 *
	 * @param completion the request to the store
	 * @hidden
	 */
	record Attach(Completion completion) implements Write {
	}

	/**
	 * The key is free again.
	 *
	 * @param cause the exception of a failed call, {@code null} if there is none
	 * @hidden
	 */
	record Release(@Nullable Throwable cause) implements Write {
	}

	/**
	 * The transaction of the work has made the change, or has taken the record with it:
	 * nothing is asked of the store.
	 *
	 * @param change what has become of the record
	 * @hidden
	 */
	record Applied(Write change) implements Write {
	}

	/**
	 * The claim is final, so nothing is written.
	 *
	 * @hidden
	 */
	record Nothing() implements Write {
	}

	/**
	 * The claim is not renewed any more and ends with its lease.
	 *
	 * @hidden
	 */
	record Leave() implements Write {
	}

	/**
	 * Nothing happens now: the ending is held until the transaction has ended, or comes
	 * too late.
	 *
	 * @hidden
	 */
	record Hold() implements Write {
	}

}
