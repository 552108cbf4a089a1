package io.idempotency.engine;

import io.idempotency.store.Completion;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of the record at the end of a claim.
 *
 * @param act what the store is asked to do
 * @param written what is written by a completion
 * @param cause what the caller gets, of a failed call
 */
record RecordEnd(Act act, @Nullable Completion written, @Nullable Throwable cause) {

	/** The claim is final. */
	static final RecordEnd NOTHING = new RecordEnd(Act.NOTHING, null, null);

	static RecordEnd release(@Nullable Throwable cause) {
		return new RecordEnd(Act.RELEASE, null, cause);
	}

	static RecordEnd complete(Completion completion) {
		return new RecordEnd(Act.COMPLETE, completion, null);
	}

	/** The result is attached later. */
	static RecordEnd attach(Completion executed) {
		return new RecordEnd(Act.ATTACH, executed, null);
	}

	Completion completion() {
		if (this.written == null) {
			throw new IllegalStateException("Nothing is completed by " + this.act);
		}
		return this.written;
	}

	/** Whether duplicates find it. */
	boolean isKept() {
		return this.written != null && !this.written.retention().isZero();
	}

	boolean isTombstone() {
		return isKept() && completion().type() == Completion.Type.TOMBSTONE;
	}

	/** What a store is asked to do. */
	enum Act {

		COMPLETE, RELEASE, NOTHING,

		/** Complete without the result. */
		ATTACH

	}

}
