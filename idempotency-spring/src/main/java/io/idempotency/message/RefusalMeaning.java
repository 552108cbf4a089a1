package io.idempotency.message;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.RememberedFailureException;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.OperationCall;
import io.idempotency.message.delivery.Delivery;

/**
 * Says what a refused call means to a broker.
 *
 * <table>
 * <caption>What becomes of the message</caption>
 * <tr>
 * <td>the call was done before, and nothing has to be answered; in mode {@code REJECT}:
 * the call came before, and its method may answer nothing</td>
 * <td>skipped and acknowledged</td>
 * </tr>
 * <tr>
 * <td>the call was done before, but its answer is not kept; the key is missing, malformed
 * or was used for something else</td>
 * <td>another delivery cannot help: {@link Delivery#deadLetter}</td>
 * </tr>
 * <tr>
 * <td>the first call still runs, its outcome is unknown, or the store is down</td>
 * <td>delivered again: the exception as it is</td>
 * </tr>
 * </table>
 *
 * An exception that the method itself threw, e.g. because it called another guarded
 * method, is a failure like any other.
 */
final class RefusalMeaning {

	private final OperationCall call;

	RefusalMeaning(OperationCall call) {
		this.call = call;
	}

	/**
	 * Returns whether the refused call is a duplicate that has nothing to answer.
	 * @param thrown what the call threw
	 */
	boolean isDuplicate(Throwable thrown) {
		return isOwn(thrown) && (thrown instanceof IdempotencyResultUnavailableException && answersNothing()
				|| thrown instanceof IdempotencyDuplicateException && canAnswerNothing());
	}

	/** Returns the same for an event, whose listener answers nobody. */
	boolean isDuplicateEvent(Throwable thrown) {
		return isDuplicate(thrown)
				|| isOwn(thrown) && thrown instanceof IdempotencyResultUnavailableException && canAnswerNothing();
	}

	/**
	 * Returns whether no further delivery can help.
	 * @param thrown what the call threw
	 * @return whether its message is a dead letter
	 */
	boolean isDeadLetter(Throwable thrown) {
		boolean useless = thrown instanceof IdempotencyKeyMissingException
				|| thrown instanceof IdempotencyKeyInvalidException || thrown instanceof IdempotencyKeyReusedException
				|| thrown instanceof IdempotencyTokenUnknownException
				|| thrown instanceof IdempotencyBodyTooLargeException
				|| thrown instanceof IdempotencyResultUnavailableException
				|| thrown instanceof IdempotencyDuplicateException;
		return useless && isOwn(thrown);
	}

	/** Returns whether a call that was not run need not be tried again. */
	boolean isFinal(Throwable thrown) {
		return isDuplicate(thrown) || thrown instanceof RememberedFailureException || isDeadLetter(thrown);
	}

	private boolean isOwn(Throwable thrown) {
		return thrown instanceof IdempotencyException refusal
				&& refusal.operation().equals(this.call.operation().name());
	}

	private boolean answersNothing() {
		IdempotentOperation operation = this.call.operation();
		return operation.result().type() == void.class || operation.result().type() == Void.class;
	}

	/** Returns whether the method may answer nothing. */
	boolean canAnswerNothing() {
		return answersNothing()
				|| !(this.call.operation().result().type() instanceof Class<?> type && type.isPrimitive());
	}

}
