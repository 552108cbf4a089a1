package io.idempotency.engine;

import io.idempotency.store.Completion;
import org.jspecify.annotations.Nullable;

/**
 * The change of a record at the end of its claim.
 *
 * @param act the request to the store
 * @param written the completion to write, {@code null} if there is none
 * @param cause the exception of a failed call, {@code null} if there is none
 */
record RecordEnd(Act act, @Nullable Completion written, @Nullable Throwable cause) {

	/** Nothing is written: the claim is final. */
	static final RecordEnd NOTHING = new RecordEnd(Act.NOTHING, null, null);

	static RecordEnd release(@Nullable Throwable cause) {
		return new RecordEnd(Act.RELEASE, null, cause);
	}

	static RecordEnd complete(Completion completion) {
		return new RecordEnd(Act.COMPLETE, completion, null);
	}

	/** Completes the record; the result is attached later. */
	static RecordEnd attach(Completion executed) {
		return new RecordEnd(Act.ATTACH, executed, null);
	}

	Completion completion() {
		if (this.written == null) {
			throw new IllegalStateException("Nothing is completed by " + this.act);
		}
		return this.written;
	}

	/** Returns whether duplicates find the completion. */
	boolean isKept() {
		return this.written != null && !this.written.retention().isZero();
	}

	boolean isTombstone() {
		return isKept() && completion().type() == Completion.Type.TOMBSTONE;
	}

	/** Returns whether duplicates are given a result. */
	boolean isResult() {
		return isKept() && completion().type() == Completion.Type.RESULT;
	}

	/** A request to the store. */
	enum Act {

		COMPLETE, RELEASE, NOTHING,

		/** Complete without the result. */
		ATTACH

	}

}
