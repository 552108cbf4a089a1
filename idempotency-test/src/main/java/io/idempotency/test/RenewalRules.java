package io.idempotency.test;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.idempotency.store.ClaimType;
import io.idempotency.store.Renewal;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rules of the renewal of several claims in a batch.
 */
interface RenewalRules extends StoreUnderTest {

	@Test
	default void renewalOfManyMakesEachLeaseLonger() {
		Call one = Call.fresh(this).lease(tick()).acquire();
		Call two = Call.fresh(this).lease(tick()).acquire();
		Call last = Call.fresh(this).lease(tick()).acquire();
		assertThat(store().renewAll(
				List.of(renewal(one), renewal(two), new Renewal(last.key(), last.id(), tick().multipliedBy(100)))))
			.as("RUNNING, renew by the owners: rejected")
			.isEmpty();
		elapse(tick().multipliedBy(3));
		for (Call call : List.of(one, two, last)) {
			Expect.inProgress("RUNNING, renewed with others: the lease is live", call.duplicate().claim());
			Expect.accepted("RUNNING, renewed with others, complete by the owner", call.complete("done"));
		}
	}

	@Test
	default void renewalOfManyNamesThoseThatAreRejected() {
		Call ours = Call.fresh(this).lease(tick()).acquire();
		Call absent = Call.fresh(this);
		Call done = Call.fresh(this).acquire();
		done.complete("done");
		Call others = Call.fresh(this).acquire().duplicate();
		Call once = Call.fresh(this).type(ClaimType.ONCE).acquire();
		Call token = Call.freshToken(this);
		store().issue(token.key(), Call.LONG);
		Call nobodys = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Call released = nobodys.duplicate().acquire();
		released.release();
		assertThat(store().renewAll(renewals(ours, absent, done, others, once, token, nobodys, released)))
			.as("renewal of many: rejected")
			.containsExactlyInAnyOrder(absent.id(), done.id(), others.id(), once.id(), token.id(), nobodys.id(),
					released.id());
		Expect.inProgress("RUNNING, renewed beside those that are rejected", ours.duplicate().claim());
	}

	@Test
	default void renewalOfManyRenewsWhatWasTakenOver() {
		Call first = Call.fresh(this).lease(tick()).acquire();
		elapse(tick().multipliedBy(3));
		Call second = first.duplicate().acquire();
		assertThat(store().renewAll(renewals(first, second))).as("RUNNING, taken over: rejected")
			.containsExactly(first.id());
	}

	@Test
	default void renewalOfNoneRejectsNone() {
		assertThat(store().renewAll(Set.of())).as("renewal of none: rejected").isEmpty();
	}

	@Test
	default void fiveHundredClaimsAreRenewedAtOnce() {
		List<Call> calls = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			calls.add(Call.fresh(this).acquire());
		}
		Call absent = Call.fresh(this);
		calls.add(absent);
		assertThat(store().renewAll(renewals(calls.toArray(new Call[0])))).as("renewal of 500 and one: rejected")
			.containsExactly(absent.id());
	}

	private static List<Renewal> renewals(Call... calls) {
		return Stream.of(calls).map(RenewalRules::renewal).toList();
	}

	private static Renewal renewal(Call call) {
		return new Renewal(call.key(), call.id(), Call.LONG);
	}

}
