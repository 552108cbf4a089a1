package io.idempotency.test;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of {@link IdempotencyStore#find}: it finds every stored result, and only stored
 * results.
 */
interface FindRules extends StoreUnderTest {

	@Test
	default void findsTheResultThatAClaimIsGiven() {
		Call first = Call.fresh(this).acquire();
		first.complete("done");
		if (findsResults()) {
			for (IdempotencyStore node : new IdempotencyStore[] { store(), anotherStore() }) {
				Expect.completed("DONE, find: Completed", "done", found(first.duplicate(node)));
				Expect.completed("DONE, find without a fingerprint: compares nothing", "done",
						found(first.duplicate(node).fingerprint(Fingerprint.NONE)));
			}
		}
		Expect.completed("DONE after find: nothing has changed", "done", first.duplicate().claim());
	}

	@Test
	default void findClaimsNothing() {
		Call first = Call.fresh(this);
		expectNothing("absent, find", first);
		first.acquire();
		expectNothing("RUNNING, find by the owner", first);
		expectNothing("RUNNING, find by another", first.duplicate());
		Expect.accepted("RUNNING after find, release by the owner", first.release());
		expectNothing("absent after a release, find", first);
		Expect.acquired("absent after find, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void findTakesNothingOver() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		expectNothing("RUNNING, lease over, find", first.duplicate());
		Expect.accepted("RUNNING, lease over, after find, complete by the owner", first.complete("done"));
	}

	@Test
	default void findsNoResultThatAClaimIsNotGiven() {
		Call first = Call.fresh(this).acquire();
		first.complete("done", tick());
		expectNothing("DONE, find with another fingerprint", first.duplicate().otherFingerprint());
		elapse(tick().multipliedBy(3));
		expectNothing("DONE, retention over, find", first.duplicate());
	}

	@Test
	default void findsNoResultUnavailable() {
		Call first = Call.fresh(this).acquire();
		first.completeWithoutResult(Call.LONG);
		expectNothing("DONE without a result, find", first.duplicate());
		Call executed = Call.fresh(this).acquire();
		executed.execute(Call.LONG, Call.LONG);
		expectNothing("COMMITTED, find", executed.duplicate());
	}

	@Test
	default void findCountsNoAttempt() {
		Call first = Call.fresh(this).type(ClaimType.ONCE).acquire();
		expectNothing("ONCE, find", first.duplicate());
		Expect.duplicate("ONCE after find, claim: the second attempt", 2, first.duplicate().claim());
	}

	@Test
	default void findUsesNoToken() {
		Call token = Call.freshToken(this);
		expectNothing("absent token, find", token);
		store().issue(token.key(), Call.LONG);
		expectNothing("ISSUED, find", token);
		token.acquire();
	}

	private static ClaimResult found(Call call) {
		return call.find()
			.orElseThrow(() -> new AssertionError("DONE, find: nothing was found. The test of a store that finds no "
					+ "results overrides findsResults()"));
	}

	private static void expectNothing(String rule, Call call) {
		assertThat(call.find()).as(rule).isEmpty();
	}

}
