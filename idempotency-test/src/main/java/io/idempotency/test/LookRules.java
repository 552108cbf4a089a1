package io.idempotency.test;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules of a look for a result: a store that looks finds every result, and nothing
 * else. A look in the memory of this JVM may find less.
 */
interface LookRules extends StoreUnderTest {

	@Test
	default void lookFindsTheResultThatAClaimIsGiven() {
		Call first = Call.fresh(this).acquire();
		first.complete("done");
		if (findsResults()) {
			for (IdempotencyStore node : new IdempotencyStore[] { store(), anotherStore() }) {
				Expect.completed("DONE, look: Completed", "done", found(first.duplicate(node)));
				Expect.completed("DONE, look without a fingerprint: compares nothing", "done",
						found(first.duplicate(node).fingerprint(Fingerprint.NONE)));
			}
		}
		Expect.completed("DONE after looks: nothing has changed", "done", first.duplicate().claim());
	}

	@Test
	default void lookClaimsNothing() {
		Call first = Call.fresh(this);
		expectNothing("absent, look", first);
		first.acquire();
		expectNothing("RUNNING, look by the owner", first);
		expectNothing("RUNNING, look by another", first.duplicate());
		Expect.accepted("RUNNING after looks, release by the owner", first.release());
		expectNothing("absent after a release, look", first);
		Expect.acquired("absent after looks, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void lookTakesNothingOver() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		expectNothing("RUNNING, lease over, look", first.duplicate());
		Expect.accepted("RUNNING, lease over, looked at, complete by the owner", first.complete("done"));
	}

	@Test
	default void lookGivesNoResultThatAClaimIsNotGiven() {
		Call first = Call.fresh(this).acquire();
		first.complete("done", tick());
		expectNothing("DONE, look with another fingerprint", first.duplicate().otherFingerprint());
		elapse(tick().multipliedBy(3));
		expectNothing("DONE, retention over, look", first.duplicate());
	}

	@Test
	default void lookFindsNoTombstone() {
		Call first = Call.fresh(this).acquire();
		first.completeWithTombstone(Call.LONG);
		expectNothing("DONE without a result, look", first.duplicate());
		Call executed = Call.fresh(this).acquire();
		executed.execute(Call.LONG, Call.LONG);
		expectNothing("EXECUTED, look", executed.duplicate());
	}

	@Test
	default void lookCountsNoAttempt() {
		Call first = Call.fresh(this).type(ClaimType.ONCE).acquire();
		expectNothing("ONCE, look", first.duplicate());
		Expect.duplicate("ONCE after a look, claim: the second attempt", 2, first.duplicate().claim());
	}

	@Test
	default void lookUsesNoToken() {
		Call token = Call.freshToken(this);
		expectNothing("absent token, look", token);
		store().issue(token.key(), Call.LONG);
		expectNothing("ISSUED, look", token);
		token.acquire();
	}

	private static ClaimResult found(Call call) {
		ClaimResult.Completed found = call.look()
			.orElseThrow(() -> new AssertionError("DONE, look: nothing was found. The test of a store that looks for "
					+ "nothing overrides findsResults()"));
		call.lookLocally().ifPresent((local) -> assertThat(local.result()).isEqualTo(found.result()));
		return found;
	}

	private static void expectNothing(String rule, Call call) {
		assertThat(call.look()).as(rule).isEmpty();
		assertThat(call.lookLocally()).as(rule + ", in the memory of this JVM").isEmpty();
	}

}
