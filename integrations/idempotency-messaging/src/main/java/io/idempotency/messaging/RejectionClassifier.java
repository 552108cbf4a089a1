package io.idempotency.messaging;

import java.lang.reflect.Type;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.interceptor.OperationCall;

/**
 * Decides what happens to the message of a rejected call.
 *
 * <table>
 * <caption>Rejections</caption>
 * <tr>
 * <td>the call was completed before, and its method returns nothing</td>
 * <td>skipped and acknowledged</td>
 * </tr>
 * <tr>
 * <td>the call was completed before, but its result is not stored; the key is missing,
 * invalid or was used for another message</td>
 * <td>a dead letter: another delivery cannot succeed</td>
 * </tr>
 * <tr>
 * <td>the first call is in progress, its outcome is unknown, or the store is
 * unavailable</td>
 * <td>delivered again</td>
 * </tr>
 * </table>
 *
 * An exception of another guarded method, which the listener called, is a failure of the
 * listener.
 *
 * @param call the call of the listener
 */
record RejectionClassifier(OperationCall call) {

	/** Returns whether the call is a duplicate that has nothing to return. */
	boolean isDuplicate(Throwable thrown) {
		Type type = this.call.operation().result().type();
		return isRejection(thrown) && thrown instanceof IdempotencyResultUnavailableException
				&& (type == void.class || type == Void.class);
	}

	/** Returns whether another delivery of the message cannot succeed. */
	boolean isDeadLetter(Throwable thrown) {
		return isRejection(thrown) && (thrown instanceof IdempotencyKeyMissingException
				|| thrown instanceof IdempotencyKeyInvalidException || thrown instanceof IdempotencyKeyReusedException
				|| thrown instanceof IdempotencyBodyTooLargeException
				|| thrown instanceof IdempotencyResultUnavailableException);
	}

	/** Returns whether it is useless to try the call again. */
	boolean isFinal(Throwable thrown) {
		return thrown instanceof RememberedFailureException || isDeadLetter(thrown);
	}

	private boolean isRejection(Throwable thrown) {
		return thrown instanceof IdempotencyException rejection
				&& rejection.operation().equals(this.call.operation().name());
	}

}
