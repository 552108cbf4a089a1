package io.idempotency.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.ClaimType;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of ISSUED, and of a token in the other states.
 */
interface TokenRules extends StoreUnderTest {

	@Test
	default void tokenThatWasNeverIssuedIsUnknown() {
		Call never = Call.freshToken(this);
		Expect.unknownToken("absent, claim of a token: UnknownToken", never.claim());
		Expect.unknownToken("absent, claim ONCE of a token: UnknownToken", never.type(ClaimType.ONCE).claim());
		Expect.unknownToken("absent, claim of a token once more: UnknownToken", never.duplicate().claim());
	}

	@Test
	default void issuedTokenIsConsumedByTheFirstClaim() {
		Call first = issued(Call.LONG);
		Expect.acquired("ISSUED, claim: Acquired", first.claim());
		Expect.inProgress("RUNNING token, claim: InProgress", first.duplicate().claim());
		Expect.keyReused("RUNNING token, claim with another fingerprint: KeyReused",
				first.duplicate().otherFingerprint().claim());
		Expect.accepted("RUNNING token, complete by the owner", first.complete("done"));
		Expect.completed("DONE token, claim: Completed", "done", first.duplicate().claim());
		Expect.keyReused("DONE token, claim with another fingerprint: KeyReused",
				first.duplicate().otherFingerprint().claim());
	}

	@Test
	@ConcurrentCalls
	default void issuedTokenIsConsumedOnceInAStorm() {
		for (int round = 0; round < rounds(); round++) {
			Call first = issued(Call.LONG);
			List<ClaimResult> answers = ConcurrentDuplicates.of(64)
				.run((index) -> first.duplicate((index % 2 == 0) ? store() : anotherStore()).claim())
				.valuesOrFail();
			assertThat(answers).as("ISSUED, 64 claims: one consumes the token")
				.filteredOn(Acquired.class::isInstance)
				.hasSize(1);
		}
	}

	@Test
	default void tokenOfAnotherCallerIsUnknown() {
		String token = UUID.randomUUID().toString();
		store().issue(IdempotencyKey.ofToken(Caller.principal("alice"), token), Call.LONG);
		Expect.unknownToken("another caller's token, claim: UnknownToken",
				Call.of(this, IdempotencyKey.ofToken(Caller.principal("bob"), token)).claim());
		Expect.unknownToken("a named caller's token, anonymous claim: UnknownToken",
				Call.of(this, IdempotencyKey.ofToken(Caller.ANONYMOUS, token)).claim());
		Expect.acquired("ISSUED, claim by its caller: Acquired",
				Call.of(this, IdempotencyKey.ofToken(Caller.principal("alice"), token)).claim());
	}

	@Test
	default void keyThatLooksLikeATokenIsNone() {
		Call token = issued(Call.LONG);
		Expect.acquired("a key with the text of a token is another key",
				Call.of(this, IdempotencyKey.of("token", Caller.ANONYMOUS, token.key().value())).claim());
		Expect.acquired("ISSUED, claim: Acquired", token.claim());
	}

	@Test
	default void tokenExpires() {
		Call first = issued(tick());
		elapse(tick().multipliedBy(3));
		Expect.unknownToken("ISSUED, time to live over: absent", first.claim());
	}

	@Test
	default void expiryIsReportedByTheStoresClock() {
		Instant soon = store().issue(Call.freshToken(this).key(), Duration.ofHours(1));
		Instant later = store().issue(Call.freshToken(this).key(), Duration.ofHours(3));
		assertThat(later).as("expiry of a token that lives two hours longer").isAfter(soon.plus(Duration.ofHours(1)));
	}

	@Test
	default void tokenIssuedOnceMoreKeepsItsExpiry() {
		IdempotencyKey token = Call.freshToken(this).key();
		Instant expiry = store().issue(token, tick());
		assertThat(store().issue(token, Call.LONG)).as("ISSUED, issue: nothing changes").isEqualTo(expiry);
		elapse(tick().multipliedBy(3));
		Expect.unknownToken("ISSUED, first time to live over: absent", Call.of(this, token).claim());
	}

	@Test
	default void tokenInUseIsNotIssuedAgain() {
		Call first = issued(Call.LONG).acquire();
		store().issue(first.key(), Call.LONG);
		Expect.inProgress("RUNNING token, issue: nothing changes", first.duplicate().claim());
		first.complete("done");
		store().issue(first.key(), Call.LONG);
		Expect.completed("DONE token, issue: nothing changes", "done", first.duplicate().claim());
	}

	@Test
	default void releaseGivesTheTokenBackWithoutAFingerprint() {
		Call first = issued(Call.LONG).acquire();
		Expect.accepted("RUNNING token, release by the owner", first.release());
		Expect.accepted("ISSUED, release sent once more", first.release());
		Call second = first.duplicate().otherFingerprint();
		Expect.acquired("ISSUED after a release, claim with another fingerprint: Acquired", second.claim());
		assertThat(second.claimed().fencingToken()).as("fencing token after a release")
			.isGreaterThan(first.claimed().fencingToken());
	}

	@Test
	default void tokenIsNotReleasedByAnother() {
		Call first = issued(Call.LONG).acquire();
		Expect.rejected("RUNNING token, release by another", first.duplicate().release());
		Expect.inProgress("RUNNING token after a rejected release: nothing has changed", first.duplicate().claim());
		Expect.accepted("RUNNING token, complete by the owner", first.complete("done"));
		Expect.rejected("DONE token, release by another", first.duplicate().release());
		Expect.completed("DONE token after a rejected release: the result stands", "done", first.duplicate().claim());
	}

	@Test
	default void releaseOfATokenSentOnceMoreDoesNotTouchTheSuccessor() {
		Call first = issued(Call.LONG).acquire();
		first.release();
		Call second = first.duplicate().acquire();
		Expect.rejected("RUNNING token, release by an earlier owner", first.release());
		Expect.inProgress("RUNNING token after a rejected release: nothing has changed", first.duplicate().claim());
		Expect.accepted("RUNNING token, complete by the owner", second.complete("second"));
		Expect.completed("RUNNING token, complete: DONE", "second", first.duplicate().claim());
	}

	@Test
	default void tokenThatIsClaimedOnceIsNotReleasedByAnother() {
		Call first = issued(Call.LONG).type(ClaimType.ONCE).acquire();
		Expect.rejected("ONCE token, release by another", first.duplicate().release());
		Expect.duplicate("ONCE token after a rejected release: nothing has changed", 2, first.duplicate().claim());
	}

	@Test
	default void releasedTokenKeepsItsFirstExpiry() {
		Call first = issued(tick().multipliedBy(6)).acquire();
		first.release();
		elapse(tick().multipliedBy(8));
		Expect.unknownToken("ISSUED after a release, first time to live over: absent", first.duplicate().claim());
	}

	@Test
	default void tokenReleasedAfterItsExpiryIsUnknown() {
		Call first = issued(tick().multipliedBy(2)).acquire();
		elapse(tick().multipliedBy(4));
		Expect.inProgress("RUNNING token, time to live over, claim: InProgress", first.duplicate().claim());
		Expect.accepted("RUNNING token, time to live over, release by the owner", first.release());
		Expect.unknownToken("ISSUED after a release, time to live over: absent", first.duplicate().claim());
	}

	@Test
	default void resultOutlivesTheToken() {
		Call first = issued(tick().multipliedBy(2)).acquire();
		first.complete("done");
		elapse(tick().multipliedBy(4));
		Expect.completed("DONE token, time to live over, claim: Completed", "done", first.duplicate().claim());
	}

	@Test
	default void issuedTokenIsNeitherReleasedNorRenewed() {
		Call never = issued(tick());
		Expect.accepted("ISSUED, release", never.release());
		Expect.rejected("ISSUED, renew", never.renew(Call.LONG));
		elapse(tick().multipliedBy(3));
		Expect.unknownToken("ISSUED, time to live over after a rejected renewal: absent", never.claim());
	}

	@Test
	default void lateCompletionOfAReleasedTokenIsKept() {
		Call first = issued(Call.LONG).acquire();
		first.release();
		Expect.accepted("ISSUED, complete inside the retention of the claim", first.complete("late"));
		Expect.completed("ISSUED, late completion: DONE", "late", first.duplicate().claim());
	}

	@Test
	default void lateCompletionOfATokenOutsideTheRetentionIsRejected() {
		Call first = issued(Call.LONG).acquire();
		first.release();
		elapse(tick().multipliedBy(3));
		Expect.rejected("ISSUED, complete outside the retention of the claim", first.complete("late", tick()));
		Expect.acquired("ISSUED after a rejected completion, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void completionWithZeroRetentionUsesTheTokenUp() {
		Call first = issued(Call.LONG).acquire();
		Expect.accepted("RUNNING token, complete with zero retention", first.forget());
		Expect.unknownToken("absent token after a completion with zero retention", first.duplicate().claim());
	}

	@Test
	default void abandonedTokenStaysAbandoned() {
		Call first = issued(Call.LONG).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Expect.abandoned("RUNNING token, lease over, may not take over: Abandoned",
				first.duplicate().rejecting().claim());
		Call second = first.duplicate();
		Expect.takenOver("RUNNING token, lease over, claim: taken over", second.claim());
		Expect.accepted("RUNNING token, taken over, release by the owner", second.release());
		Expect.abandoned("orphaned token, may not take over: Abandoned, not ISSUED",
				first.duplicate().rejecting().claim());
	}

	@Test
	default void abandonedTokenIsUnknownAfterTheRetention() {
		Call first = issued(Call.LONG).lease(tick()).retention(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Expect.unknownToken("RUNNING token, lease and retention over: absent", first.duplicate().claim());
	}

	@Test
	default void tokenIsClaimedOnce() {
		Call first = issued(Call.LONG).type(ClaimType.ONCE);
		Expect.acquired("ISSUED, claim ONCE: Acquired", first.claim());
		Expect.duplicate("ONCE token, claim: Duplicate", 2, first.duplicate().claim());
		Expect.accepted("ONCE token, release by the owner", first.release());
		Expect.acquired("ISSUED after a release, claim ONCE: Acquired", first.duplicate().claim());
	}

	@Test
	default void tokenReleasedFromOnceKeepsItsFirstExpiry() {
		Call first = issued(tick().multipliedBy(2)).type(ClaimType.ONCE).acquire();
		elapse(tick().multipliedBy(4));
		Expect.duplicate("ONCE token, time to live over, claim: Duplicate", 2, first.duplicate().claim());
		Expect.accepted("ONCE token, time to live over, release by the owner", first.release());
		Expect.unknownToken("ISSUED after a release, time to live over: absent", first.duplicate().claim());
	}

	private Call issued(Duration timeToLive) {
		Call call = Call.freshToken(this);
		store().issue(call.key(), timeToLive);
		return call;
	}

}
