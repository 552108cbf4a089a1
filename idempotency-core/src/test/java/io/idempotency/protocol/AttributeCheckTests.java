package io.idempotency.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Each rule by all modes: in which of them it refuses. */
class AttributeCheckTests {

	@Test
	void fingerprintNeedsAModeThatCompares() {
		assertThat(refusing((check) -> check.fingerprint(true))).containsExactly(IdempotencyMode.REJECT,
				IdempotencyMode.LOCK);
		assertThat(refusing((check) -> check.fingerprint(false))).isEmpty();
	}

	@Test
	void waitingNeedsAModeAndAConflictThatWait() {
		assertThat(refusing((check) -> check.conflict(ConflictMode.WAIT, true)))
			.containsExactly(IdempotencyMode.REJECT);
		assertThat(refusing((check) -> check.conflict(ConflictMode.REJECT, true)))
			.containsExactly(IdempotencyMode.values());
		assertThat(refusing((check) -> check.conflict(ConflictMode.REJECT, false))).isEmpty();
		assertThat(refusing((check) -> check.conflict(ConflictMode.DEFAULT, true))).isEmpty();
	}

	@Test
	void whatIsKeptNeedsAModeThatKeeps() {
		assertThat(refusing((check) -> check.result(FailureMode.REMEMBER, true))).containsExactly(IdempotencyMode.LOCK);
		assertThat(refusing((check) -> check.result(FailureMode.RELEASE, false)))
			.containsExactly(IdempotencyMode.REJECT, IdempotencyMode.LOCK);
		assertThat(refusing((check) -> check.result(FailureMode.REMEMBER, false)))
			.containsExactly(IdempotencyMode.values());
		assertThat(refusing((check) -> check.result(FailureMode.DEFAULT, true))).isEmpty();
	}

	@Test
	void recoveryIsAskedForSomething() {
		assertThat(refusing((check) -> check.recover(true, false))).containsExactly(IdempotencyMode.REJECT);
		assertThat(refusing((check) -> check.recover(true, true))).isEmpty();
		assertThat(refusing((check) -> check.recover(false, false))).isEmpty();
	}

	@Test
	void tokenHasAnOwnerAndAStore() {
		assertThat(refusing((check) -> check.token(true, true, false))).containsExactly(IdempotencyMode.values());
		assertThat(refusing((check) -> check.token(true, false, true))).containsExactly(IdempotencyMode.values());
		assertThat(refusing((check) -> check.token(true, false, false))).isEmpty();
		assertThat(refusing((check) -> check.token(false, true, true))).isEmpty();
	}

	@Test
	void refusalNamesTheModeAndTheCure() {
		assertThatIllegalStateException().isThrownBy(() -> check(IdempotencyMode.LOCK).fingerprint(true))
			.withMessage("it has a fingerprint, but mode = LOCK compares nothing. Remove fingerprint");
	}

	private static List<IdempotencyMode> refusing(Function<AttributeCheck, AttributeCheck> rule) {
		List<IdempotencyMode> modes = new ArrayList<>();
		for (IdempotencyMode mode : IdempotencyMode.values()) {
			try {
				assertThat(rule.apply(check(mode))).isNotNull();
			}
			catch (IllegalStateException refused) {
				modes.add(mode);
			}
		}
		return modes;
	}

	private static AttributeCheck check(IdempotencyMode mode) {
		return new AttributeCheck(mode, (problem, action) -> new IllegalStateException(problem + ". " + action));
	}

}
