package io.idempotency.test;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules of a look for a result. What a store has for that finds every result, and
 * nothing else.
 */
interface LookRules extends StoreUnderTest {

	@Test
	default void lookFindsTheResultThatAClaimIsGiven() {
		Call first = Call.fresh(this).acquire();
		first.complete("done");
		if (store().finished().isPresent()) {
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
		expectNothing("absent, look", first.look());
		first.acquire();
		expectNothing("RUNNING, look by the owner", first.look());
		expectNothing("RUNNING, look by another", first.duplicate().look());
		Expect.accepted("RUNNING after looks, release by the owner", first.release());
		expectNothing("absent after a release, look", first.look());
		Expect.acquired("absent after looks, claim: Acquired", first.duplicate().claim());
	}

	@Test
	default void lookTakesNothingOver() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		expectNothing("RUNNING, lease over, look", first.duplicate().look());
		Expect.accepted("RUNNING, lease over, looked at, complete by the owner", first.complete("done"));
	}

	@Test
	default void lookGivesNoResultThatAClaimIsNotGiven() {
		Call first = Call.fresh(this).acquire();
		first.complete("done", tick());
		expectNothing("DONE, look with another fingerprint", first.duplicate().otherFingerprint().look());
		expectNothing("DONE, look of type once", first.duplicate().type(ClaimType.ONCE).look());
		elapse(tick().multipliedBy(3));
		expectNothing("DONE, retention over, look", first.duplicate().look());
	}

	@Test
	default void lookFindsNoTombstone() {
		Call first = Call.fresh(this).acquire();
		first.completeWithTombstone(Call.LONG);
		expectNothing("DONE without a result, look", first.duplicate().look());
		Call executed = Call.fresh(this).acquire();
		executed.execute(Call.LONG, Call.LONG);
		expectNothing("EXECUTED, look", executed.duplicate().look());
	}

	@Test
	default void lookCountsNoAttempt() {
		Call first = Call.fresh(this).type(ClaimType.ONCE).acquire();
		expectNothing("ONCE, look", first.duplicate().look());
		Expect.duplicate("ONCE after a look, claim: the second attempt", 2, first.duplicate().claim());
	}

	@Test
	default void lookUsesNoToken() {
		Call token = Call.freshToken(this);
		expectNothing("absent token, look", token.look());
		store().issue(token.key(), Call.LONG);
		expectNothing("ISSUED, look", token.look());
		token.acquire();
	}

	private static ClaimResult found(Call call) {
		ClaimResult.Completed found = call.look();
		if (found == null) {
			throw new AssertionError("DONE, look: nothing was found");
		}
		return found;
	}

	private static void expectNothing(String rule, ClaimResult.@Nullable Completed found) {
		assertThat(found).as(rule).isNull();
	}

}
