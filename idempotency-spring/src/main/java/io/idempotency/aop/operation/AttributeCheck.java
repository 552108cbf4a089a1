package io.idempotency.aop.operation;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

/**
 * Refuses attributes that contradict each other, because one of them would silently do
 * nothing.
 */
final class AttributeCheck {

	/** The value of the fingerprint attribute that switches the comparison off. */
	static final String NO_FINGERPRINT = "none";

	private final IdempotentAnnotation annotation;

	private AttributeCheck(IdempotentAnnotation annotation) {
		this.annotation = annotation;
	}

	static void check(IdempotentAnnotation annotation) {
		new AttributeCheck(annotation).check(annotation.attributes());
	}

	private void check(Idempotent attributes) {
		IdempotencyMode mode = attributes.mode();
		boolean compares = !attributes.fingerprint().isEmpty() && !attributes.fingerprint().equals(NO_FINGERPRINT);
		refuse(compares && mode != IdempotencyMode.REPLAY,
				"it has a fingerprint, but mode = " + mode + " compares nothing", "Remove fingerprint");
		refuse(attributes.conflict() == ConflictMode.WAIT && mode == IdempotencyMode.REJECT,
				"conflict = WAIT contradicts mode = REJECT, which refuses duplicates at once", "Remove conflict");
		refuse(!attributes.waitTimeout().isEmpty() && attributes.conflict() == ConflictMode.REJECT,
				"it has a waitTimeout, but conflict = REJECT never waits", "Remove one of the two");
		refuse(attributes.onFailure() == FailureMode.REMEMBER && mode == IdempotencyMode.LOCK,
				"onFailure = REMEMBER contradicts mode = LOCK, which keeps nothing", "Remove onFailure");
		refuse(!attributes.keepResult() && mode != IdempotencyMode.REPLAY,
				"it has keepResult = false, but mode = " + mode + " keeps no result anyway", "Remove keepResult");
		refuse(!attributes.keepResult() && attributes.onFailure() == FailureMode.REMEMBER,
				"keepResult = false contradicts onFailure = REMEMBER, which keeps the failure",
				"Remove one of the two");
		refuse(!attributes.recover().isEmpty() && mode == IdempotencyMode.REJECT
				&& attributes.duplicateOn().length == 0,
				"recover is never asked: mode = REJECT gives no duplicate a result",
				"Remove recover or set duplicateOn");
		checkToken(attributes);
	}

	/**
	 * Refuses a scope or a store beside a token: a token belongs to the caller it was
	 * issued to, and is in the default store.
	 */
	private void checkToken(Idempotent attributes) {
		refuse(attributes.token() && !attributes.scope().isEmpty(),
				"token = true contradicts scope: a token belongs to the caller it was issued to", "Remove scope");
		refuse(attributes.token() && !attributes.store().isEmpty(),
				"token = true contradicts store: tokens are issued into the store of the application", "Remove store");
	}

	private void refuse(boolean contradiction, String problem, String action) {
		if (contradiction) {
			throw this.annotation.problem(problem, action);
		}
	}

}
