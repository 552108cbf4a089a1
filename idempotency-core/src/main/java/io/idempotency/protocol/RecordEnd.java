package io.idempotency.protocol;

import io.idempotency.Internal;
import io.idempotency.store.Completion;
import org.jspecify.annotations.Nullable;

/**
 * The change of a record at the end of its claim.
 *
 * @param act the request to the store
 * @param written the completion to write, {@code null} if there is none
 * @param cause the exception of a failed call, {@code null} if there is none
 * @hidden
 * @since 0.1.0
 */
@Internal
public record RecordEnd(Act act, @Nullable Completion written, @Nullable Throwable cause) {

	/** Nothing is written: the claim is final. */
	public static final RecordEnd NOTHING = new RecordEnd(Act.NOTHING, null, null);

	public static RecordEnd release(@Nullable Throwable cause) {
		return new RecordEnd(Act.RELEASE, null, cause);
	}

	public static RecordEnd complete(Completion completion) {
		return new RecordEnd(Act.COMPLETE, completion, null);
	}

	/** Completes the record; the result is attached later. */
	public static RecordEnd attach(Completion executed) {
		return new RecordEnd(Act.ATTACH, executed, null);
	}

	public Completion completion() {
		if (this.written == null) {
			throw new IllegalStateException("Nothing is completed by " + this.act);
		}
		return this.written;
	}

	/** Returns whether duplicates find the completion. */
	public boolean isKept() {
		return this.written != null && !this.written.retention().isZero();
	}

	public boolean isTombstone() {
		return isKept() && completion().type() == Completion.Type.TOMBSTONE;
	}

	/** Returns whether duplicates are given a result. */
	public boolean isResult() {
		return isKept() && completion().type() == Completion.Type.RESULT;
	}

	/** A request to the store. */
	public enum Act {

		COMPLETE, RELEASE, NOTHING,

		/** Complete without the result. */
		ATTACH

	}

}
