package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyEvent;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.NotAllRenewedException;
import io.idempotency.store.Renewal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * When claims are renewed, in time that only a test moves: from the send, together, and
 * apart from whatever hangs.
 */
class RenewerTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final TestPolicy policy = TestPolicy.replay();

	private final ManualScheduler time = new ManualScheduler();

	private final EngineFixture node = new EngineFixture(this.time);

	@AfterEach
	void close() {
		this.node.close();
	}

	/** Time of the node and of the store. */
	private void advance(Duration duration) {
		for (Duration rest = duration; rest.compareTo(Duration.ZERO) > 0; rest = rest.minusMillis(100)) {
			this.node.clock.advance(Duration.ofMillis(100));
			this.time.advance(Duration.ofMillis(100));
		}
	}

	/** Nobody has the time to do anything: a pause of the whole JVM. */
	private void stall(Duration duration) {
		this.node.clock.advance(duration);
		this.time.skip(duration);
	}

	private CompletableFuture<String> running() throws Throwable {
		return running("key-1", new CompletableFuture<>());
	}

	private CompletableFuture<String> running(String key, CompletableFuture<String> work) throws Throwable {
		this.node.engine.execute(call(key), TestAction.async(() -> work));
		return work;
	}

	private GuardedCall call(String key) {
		return new GuardedCall(IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, key), Fingerprint.NONE,
				this.policy.build(), this.node.store);
	}

	private ClaimResult askElsewhere(String key) {
		return this.node.memory.claim(ClaimRequest.of(call(key).key(), LEASE, Duration.ofHours(24)));
	}

	@Test
	void callThatEndsWithinAThirdOfItsLeaseSetsOneTimerForAllAndAsksNothing() throws Throwable {
		for (int i = 0; i < 100; i++) {
			this.node.engine.execute(call("key-" + i), TestAction.returning("one"));
		}
		assertThat(this.time.timers()).isOne();
		this.time.advance(Duration.ofMinutes(5));
		assertThat(this.node.store.count(Verb.RENEW)).isZero();
		assertThat(this.time.timers()).isZero();
	}

	@Test
	void callThatRunsWhileTheEngineIsClosedIsRenewedOnceMoreAfterAFailedRenewal() throws Throwable {
		running();
		this.node.engine.close();
		this.node.store.failBefore(Verb.RENEW, 2);
		advance(Duration.ofSeconds(95));
		assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.InProgress.class);
		assertThat(this.node.events.all()).doesNotContain(IdempotencyEvent.STORE_RETRY);
		assertThat(this.node.log.messages(Level.WARN)).isEmpty();
	}

	@Test
	void runningCallIsRenewedEveryThirdOfItsLease() throws Throwable {
		CompletableFuture<String> work = running();
		advance(Duration.ofSeconds(95));
		assertThat(this.node.store.count(Verb.RENEW)).isEqualTo(9);
		assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.InProgress.class);
		work.complete("one");
		advance(Duration.ofMinutes(2));
		assertThat(this.node.store.count(Verb.RENEW)).isEqualTo(9);
		assertNothingBeats();
		assertThat(this.node.events.lateBeats()).isZero();
	}

	@Test
	void workThatWasGivenUpIsRenewedNoMore() throws Throwable {
		CompletableFuture<String> work = running();
		advance(Duration.ofSeconds(15));
		work.completeExceptionally(new TimeoutException("late"));
		advance(Duration.ofMinutes(2));
		assertThat(this.node.store.count(Verb.RENEW)).isOne();
		assertNothingBeats();
		assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.Acquired.class);
	}

	@Test
	void callThatFailsIsRenewedNoMore() throws Throwable {
		CompletableFuture<String> work = running();
		advance(Duration.ofSeconds(15));
		work.completeExceptionally(new IllegalStateException("failed"));
		advance(Duration.ofMinutes(2));
		assertThat(this.node.store.count(Verb.RENEW)).isOne();
		assertNothingBeats();
	}

	@Test
	void completionThatIsOutstandingIsRenewedUntilItIsAccepted() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		this.node.store.fail(Verb.RENEW, Point.BEFORE, ScriptedStore.ALWAYS,
				() -> new IdempotencyStoreException("down"));
		running().complete("one");
		advance(Duration.ofSeconds(25));
		assertThat(this.node.engine.load().runningClaims()).isOne();
		this.node.store.heal();
		advance(Duration.ofMinutes(1));
		assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.Completed.class);
		assertNothingBeats();
	}

	@Test
	void completionThatIsGivenUpIsRenewedNoMore() throws Throwable {
		this.policy.retention(Duration.ofMinutes(1));
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		this.node.engine.execute(call("key-1"), TestAction.returning("one"));
		advance(Duration.ofSeconds(45));
		assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.InProgress.class);
		advance(Duration.ofSeconds(30));
		assertNothingBeats();
		advance(LEASE);
		assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.Acquired.class);
	}

	private void assertNothingBeats() {
		assertThat(this.node.engine.load().runningClaims()).isZero();
	}

	@Test
	void leaseCountsFromWhenTheClaimWasSent() throws Throwable {
		// The reply is 0.3 of a lease late: the first beat is due 0.03 of a lease later.
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> stall(Duration.ofSeconds(9)));
		running();
		advance(Duration.ofMillis(1_100));
		assertThat(this.node.store.count(Verb.RENEW)).isOne();
	}

	@Test
	void leaseCountsFromWhenTheRenewalWasSent() throws Throwable {
		this.node.store.on(Verb.RENEW, Point.AFTER, 1, () -> stall(Duration.ofSeconds(9)));
		running();
		advance(Duration.ofSeconds(10));
		assertThat(this.node.store.count(Verb.RENEW)).isOne();
		advance(Duration.ofMillis(1_100));
		assertThat(this.node.store.count(Verb.RENEW)).isEqualTo(2);
	}

	@Test
	void replyThatIsLateByMostOfTheLeaseNeverLeavesTwoOwners() throws Throwable {
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> stall(Duration.ofSeconds(24)));
		CompletableFuture<String> work = new CompletableFuture<>();
		running("key-1", work);
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RENEW);
		for (int second = 0; second < 60; second++) {
			advance(Duration.ofSeconds(1));
			assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.InProgress.class);
		}
	}

	@Test
	void beatThatStartsLateIsToldOf() throws Throwable {
		running();
		stall(Duration.ofSeconds(21));
		this.time.advance(Duration.ZERO);
		assertThat(this.node.store.count(Verb.RENEW)).isOne();
		assertThat(this.node.events.lateBeats()).isOne();
	}

	@Test
	void beatThatFailsIsRepeatedSoon() throws Throwable {
		this.node.store.failBefore(Verb.RENEW, 3);
		running();
		advance(Duration.ofSeconds(15));
		assertThat(this.node.store.count(Verb.RENEW)).isEqualTo(4);
		assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.InProgress.class);
	}

	@Test
	void manyClaimsAreRenewedTogether() throws Throwable {
		List<Integer> batches = new ArrayList<>();
		this.node.store.onRenewAll((renewals) -> batches.add(renewals.size()));
		for (int i = 0; i < 1_000; i++) {
			running("key-" + i, new CompletableFuture<>());
		}
		advance(Duration.ofSeconds(11));
		assertThat(batches).containsExactly(250, 250, 250, 250);
		advance(Duration.ofSeconds(60));
		assertThat(batches).hasSize(28).containsOnly(250);
		for (int i = 0; i < 1_000; i++) {
			assertThat(askElsewhere("key-" + i)).isInstanceOf(ClaimResult.InProgress.class);
		}
	}

	@Test
	void claimsThatAreDueSoonAfterEachOtherAreRenewedTogether() throws Throwable {
		List<Integer> batches = new ArrayList<>();
		this.node.store.onRenewAll((renewals) -> batches.add(renewals.size()));
		running("key-1", new CompletableFuture<>());
		advance(Duration.ofMillis(900));
		running("key-2", new CompletableFuture<>());
		advance(Duration.ofSeconds(11));
		assertThat(batches).containsExactly(2);
	}

	@Test
	void claimsThatHaveFailedOnceAreRenewedTogetherAgain() throws Throwable {
		List<Integer> batches = new ArrayList<>();
		this.node.store.onRenewAll((renewals) -> {
			batches.add(renewals.size());
			if (batches.size() == 1) {
				throw new IdempotencyStoreException("down");
			}
		});
		for (int i = 0; i < 10; i++) {
			running("key-" + i, new CompletableFuture<>());
		}
		advance(Duration.ofSeconds(25));
		assertThat(batches).containsExactly(10, 10);
	}

	@Test
	void claimThatIsLostIsToldOfAmongManyAndTheOthersLive() throws Throwable {
		for (int i = 0; i < 10; i++) {
			running("key-" + i, new CompletableFuture<>());
		}
		this.node.clock.advance(LEASE);
		assertThat(askElsewhere("key-7")).isInstanceOf(ClaimResult.Acquired.class);
		advance(Duration.ofSeconds(11));
		assertThat(this.node.events.count(IdempotencyEvent.LEASE_LOST)).isOne();
		advance(Duration.ofSeconds(60));
		assertThat(this.node.events.count(IdempotencyEvent.LEASE_LOST)).isOne();
		assertThat(this.node.engine.load().runningClaims()).isEqualTo(9);
		assertThat(askElsewhere("key-6")).isInstanceOf(ClaimResult.InProgress.class);
	}

	@Test
	void batchThatFailsBecauseOfOneIsRenewedOneByOne() throws Throwable {
		this.node.store.onRenewAll((renewals) -> {
			throw new IdempotencyStoreException("one of them is locked");
		});
		for (int i = 0; i < 10; i++) {
			running("key-" + i, new CompletableFuture<>());
		}
		advance(Duration.ofSeconds(12));
		assertThat(this.node.store.count(Verb.RENEW)).isEqualTo(10);
		advance(Duration.ofSeconds(60));
		for (int i = 0; i < 10; i++) {
			assertThat(askElsewhere("key-" + i)).isInstanceOf(ClaimResult.InProgress.class);
		}
	}

	@Test
	void claimThatIsLockedAmongManyIsTriedAgainAndTheOthersAreRenewed() throws Throwable {
		this.node.store.onRenewAll((renewals) -> {
			Set<ClaimId> locked = Set.of(renewals.iterator().next().claimId());
			throw new NotAllRenewedException("one row is locked", locked, Set.of());
		});
		for (int i = 0; i < 10; i++) {
			running("key-" + i, new CompletableFuture<>());
		}
		advance(Duration.ofSeconds(12));
		assertThat(this.node.store.count(Verb.RENEW)).isOne();
		assertThat(this.node.events.count(IdempotencyEvent.LEASE_LOST)).isZero();
	}

	@Test
	void answersForOtherClaimsBesideALockedOneCount() throws Throwable {
		this.node.store.onRenewAll((renewals) -> {
			List<ClaimId> ids = renewals.stream().map(Renewal::claimId).toList();
			throw new NotAllRenewedException("one row is locked", Set.of(ids.get(0)), Set.of(ids.get(1)));
		});
		for (int i = 0; i < 3; i++) {
			running("key-" + i, new CompletableFuture<>());
		}
		advance(Duration.ofSeconds(12));
		assertThat(this.node.events.count(IdempotencyEvent.LEASE_LOST)).isOne();
		assertThat(this.node.engine.load().runningClaims()).isEqualTo(2);
		assertThat(this.node.store.count(Verb.RENEW)).as("the locked one, once more").isOne();
		advance(Duration.ofSeconds(7));
		assertThat(this.node.store.count(Verb.RENEW)).isOne();
	}

	@Test
	void futureThatNobodyCompletesHoldsItsKeyForItsRetentionOnly() throws Throwable {
		this.policy.retention(Duration.ofMinutes(5));
		running();
		advance(Duration.ofMinutes(4));
		assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.InProgress.class);
		advance(Duration.ofMinutes(2));
		assertThat(askElsewhere("key-1")).isInstanceOf(ClaimResult.Acquired.class);
		assertThat(this.node.log.messages(Level.WARN)).singleElement()
			.asString()
			.contains(TestPolicy.OPERATION, "no longer renewed");
		assertNothingBeats();
		assertThat(this.time.timers()).isZero();
	}

	@Test
	void retentionThatIsOverBeforeTheFirstBeatEndsTheBeatsThen() throws Throwable {
		this.policy.retention(Duration.ofSeconds(5));
		running();
		advance(Duration.ofSeconds(4));
		assertThat(this.node.engine.load().runningClaims()).isOne();
		advance(Duration.ofSeconds(2));
		assertNothingBeats();
		assertThat(this.node.store.count(Verb.RENEW)).isZero();
	}

	/**
	 * On real threads: four of them were all there was for every store and every verb.
	 */
	@Tag("long")
	@Test
	void claimsThatHangForEverHoldUpNobodyElses() throws Throwable {
		Duration lease = Duration.ofSeconds(3);
		Set<ClaimId> hanging = ConcurrentHashMap.newKeySet();
		CountDownLatch never = new CountDownLatch(1);
		try (EngineFixture real = new EngineFixture()) {
			real.store.onRenew((claimId) -> {
				if (hanging.contains(claimId)) {
					never.await();
				}
			});
			TestPolicy shortLease = TestPolicy.replay().lease(lease);
			List<CompletableFuture<String>> work = new ArrayList<>();
			for (int i = 0; i < 40; i++) {
				IdempotencyKey key = IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, "key-" + i);
				CompletableFuture<String> future = new CompletableFuture<>();
				work.add(future);
				real.engine.execute(new GuardedCall(key, Fingerprint.NONE, shortLease.build(), real.store),
						TestAction.async(() -> future));
				if (i < 8) {
					hanging.add(real.store.claims().get(i).claimId());
				}
			}
			Collection<ClaimId> healthy = new HashSet<>();
			real.store.claims().forEach((claim) -> healthy.add(claim.claimId()));
			healthy.removeAll(hanging);
			for (int round = 0; round < 3; round++) {
				Set<ClaimId> renewed = ConcurrentHashMap.newKeySet();
				real.store.onRenewed(renewed::add);
				await().until(() -> renewed.containsAll(healthy));
			}
			assertThat(real.events.count(IdempotencyEvent.LEASE_LOST)).isZero();
		}
		finally {
			never.countDown();
		}
	}

	/** A store that hangs as a whole is no matter of another store's claims. */
	@Test
	void storeThatHangsHoldsUpNoOtherStore() throws Throwable {
		CountDownLatch never = new CountDownLatch(1);
		try (EngineFixture real = new EngineFixture()) {
			ScriptedStore hangs = new ScriptedStore(real.memory);
			for (Verb verb : List.of(Verb.RENEW, Verb.COMPLETE, Verb.RELEASE)) {
				hangs.on(verb, Point.BEFORE, ScriptedStore.ALWAYS, never::await);
			}
			TestPolicy shortLease = TestPolicy.replay().lease(Duration.ofMillis(300));
			for (int i = 0; i < 100; i++) {
				IdempotencyKey key = IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, "hangs-" + i);
				real.engine.execute(new GuardedCall(key, Fingerprint.NONE, shortLease.build(), hangs),
						TestAction.async(CompletableFuture<String>::new));
			}
			await().until(() -> hangs.count(Verb.RENEW) > 4);
			real.start(shortLease, TestAction.async(CompletableFuture<String>::new));
			for (int round = 0; round < 3; round++) {
				int seen = real.store.count(Verb.RENEW);
				await().until(() -> real.store.count(Verb.RENEW) > seen);
			}
		}
		finally {
			never.countDown();
		}
	}

}
