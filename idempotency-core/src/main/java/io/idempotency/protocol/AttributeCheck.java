package io.idempotency.protocol;

import java.util.function.BiFunction;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;

/**
 * Refuses attributes of an operation that contradict each other, because one of them
 * would silently do nothing. What the application has set for all operations contradicts
 * nothing, so only what an operation says of itself is handed in.
 *
 * @hidden
 */
@Internal
public final class AttributeCheck {

	private final IdempotencyMode mode;

	private final BiFunction<String, String, ? extends RuntimeException> refusal;

	/**
	 * Begins the check of one operation.
	 * @param refusal makes the error from what is wrong, in words that follow a colon,
	 * and from what to do
	 */
	public AttributeCheck(IdempotencyMode mode, BiFunction<String, String, ? extends RuntimeException> refusal) {
		this.mode = mode;
		this.refusal = refusal;
	}

	public AttributeCheck fingerprint(boolean compares) {
		refuse(compares && this.mode != IdempotencyMode.REPLAY, "it has a fingerprint, but mode = %s compares nothing",
				"Remove fingerprint");
		return this;
	}

	public AttributeCheck conflict(ConflictMode conflict, boolean hasTimeout) {
		refuse(conflict == ConflictMode.WAIT && this.mode == IdempotencyMode.REJECT,
				"conflict = WAIT contradicts mode = REJECT, which refuses duplicates at once", "Remove conflict");
		refuse(hasTimeout && conflict == ConflictMode.REJECT, "it has a waitTimeout, but conflict = REJECT never waits",
				"Remove one of the two");
		return this;
	}

	public AttributeCheck result(FailureMode onFailure, boolean keepResult) {
		refuse(onFailure == FailureMode.REMEMBER && this.mode == IdempotencyMode.LOCK,
				"onFailure = REMEMBER contradicts mode = LOCK, which keeps nothing", "Remove onFailure");
		refuse(!keepResult && this.mode != IdempotencyMode.REPLAY,
				"it has keepResult = false, but mode = %s keeps no result anyway", "Remove keepResult");
		refuse(!keepResult && onFailure == FailureMode.REMEMBER,
				"keepResult = false contradicts onFailure = REMEMBER, which keeps the failure",
				"Remove one of the two");
		return this;
	}

	public AttributeCheck recover(boolean recovers, boolean hasDuplicateOn) {
		refuse(recovers && this.mode == IdempotencyMode.REJECT && !hasDuplicateOn,
				"recover is never asked: mode = REJECT gives no duplicate a result",
				"Remove recover or set duplicateOn");
		return this;
	}

	/**
	 * Refuses a scope or a store beside a token: a token belongs to the caller it was
	 * issued to, and is in the default store.
	 */
	public AttributeCheck token(boolean token, boolean hasScope, boolean namesStore) {
		refuse(token && hasScope, "token contradicts scope: a token belongs to the caller it was issued to",
				"Remove scope");
		refuse(token && namesStore, "token contradicts store: tokens are issued into the store of the application",
				"Remove store");
		return this;
	}

	private void refuse(boolean contradiction, String problem, String action) {
		if (contradiction) {
			throw this.refusal.apply(problem.formatted(this.mode), action);
		}
	}

}
