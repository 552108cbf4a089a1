package io.idempotency.test;

import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Abandoned;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.ClaimResult.Completed;
import io.idempotency.store.ClaimResult.Duplicate;
import io.idempotency.store.ClaimResult.InProgress;
import io.idempotency.store.ClaimResult.KeyReused;
import io.idempotency.store.ClaimResult.ResultUnavailable;
import io.idempotency.store.ClaimResult.UnknownToken;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Assertions for the results of a store. Every failure contains the rule.
 */
final class Expect {

	private Expect() {
	}

	/** Asserts that the claim was acquired without a takeover. */
	static Claim acquired(String rule, ClaimResult answer) {
		Claim claim = is(Acquired.class, rule, answer).claim();
		assertThat(claim.abandoned()).as("%s: abandoned", rule).isFalse();
		return claim;
	}

	/**
	 * Asserts that the claim was acquired after the lease of an earlier owner expired.
	 */
	static Claim takenOver(String rule, ClaimResult answer) {
		Claim claim = is(Acquired.class, rule, answer).claim();
		assertThat(claim.abandoned()).as("%s: abandoned", rule).isTrue();
		return claim;
	}

	static void inProgress(String rule, ClaimResult answer) {
		assertThat(is(InProgress.class, rule, answer).rest()).as("%s: rest of the lease", rule)
			.isPositive()
			.isLessThanOrEqualTo(Call.LONG);
	}

	static void completed(String rule, String content, ClaimResult answer) {
		Completed completed = is(Completed.class, rule, answer);
		assertThat(completed.result()).as("%s: result", rule).isEqualTo(Call.result(content));
		assertThat(completed.rest()).as("%s: rest of the retention", rule).isPositive().isLessThanOrEqualTo(Call.LONG);
	}

	static void resultUnavailable(String rule, ClaimResult answer) {
		is(ResultUnavailable.class, rule, answer);
	}

	static void keyReused(String rule, ClaimResult answer) {
		is(KeyReused.class, rule, answer);
	}

	static void abandoned(String rule, ClaimResult answer) {
		is(Abandoned.class, rule, answer);
	}

	static void duplicate(String rule, long attempts, ClaimResult answer) {
		assertThat(is(Duplicate.class, rule, answer).attempts()).as("%s: attempts", rule).isEqualTo(attempts);
	}

	static void unknownToken(String rule, ClaimResult answer) {
		is(UnknownToken.class, rule, answer);
	}

	static void accepted(String rule, boolean answer) {
		assertThat(answer).as("%s: accepted", rule).isTrue();
	}

	static void rejected(String rule, boolean answer) {
		assertThat(answer).as("%s: accepted", rule).isFalse();
	}

	static <T extends ClaimResult> T is(Class<T> type, String rule, ClaimResult answer) {
		assertThat(answer).as(rule).isInstanceOf(type);
		return type.cast(answer);
	}

}
