package io.idempotency.test;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecord.State;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordAdmin.Eviction;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.StoredResult;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Rules of the operations for operators. They are skipped for a store without these
 * operations.
 */
interface AdminRules extends StoreUnderTest {

	private static RecordAdmin admin(IdempotencyStore store) {
		Assumptions.assumeTrue(store.admin().isPresent(), "the store offers nothing to operators");
		return store.admin().orElseThrow();
	}

	private IdempotencyRecord find(Call call) {
		return admin(anotherStore()).find(RecordKey.of(call.key())).orElseThrow();
	}

	private Eviction evict(Call call, boolean force) {
		return admin(anotherStore()).evict(RecordKey.of(call.key()), force);
	}

	private Call of(String operation, Caller caller) {
		return Call.of(this, IdempotencyKey.of(operation, caller, UUID.randomUUID().toString()));
	}

	@Test
	default void absentRecordIsNotFound() {
		assertThat(admin(store()).find(RecordKey.of(Call.fresh(this).key()))).as("absent, find").isEmpty();
		assertThat(evict(Call.fresh(this), false)).as("absent, evict").isEqualTo(Eviction.ABSENT);
	}

	@Test
	default void recordOfARunningCallShowsItsLease() {
		Call call = Call.fresh(this).acquire();
		IdempotencyRecord record = find(call);
		assertThat(record.state()).isEqualTo(State.RUNNING);
		assertThat(record.id()).isEqualTo(call.key().hashHex());
		assertThat(record.operation()).isEqualTo(call.key().label());
		assertThat(record.leaseRest()).isPositive().isLessThanOrEqualTo(Call.LONG);
		assertThat(record.retentionRest()).isPositive().isLessThanOrEqualTo(Call.LONG);
		assertThat(record.attempts()).isZero();
		assertThat(record.claimedAt()).as("claimed at the time of the fencing token")
			.isEqualTo(Instant.EPOCH.plus(call.claimed().fencingToken(), ChronoUnit.MICROS));
	}

	@Test
	default void recordOfACallThatIsDoneShowsItsRetention() {
		Call done = Call.fresh(this).acquire();
		done.complete("done");
		IdempotencyRecord record = find(done);
		assertThat(record.state()).isEqualTo(State.DONE);
		assertThat(record.leaseRest()).isEqualTo(Duration.ZERO);
		assertThat(record.retentionRest()).isPositive().isLessThanOrEqualTo(Call.LONG);
		Call tombstone = Call.fresh(this).acquire();
		tombstone.completeWithoutResult(Call.LONG);
		assertThat(find(tombstone).state()).isEqualTo(State.RESULT_NOT_STORED);
		Call executed = Call.fresh(this).acquire();
		executed.execute(Call.LONG, Call.LONG);
		assertThat(find(executed).state()).isEqualTo(State.COMMITTED);
	}

	@Test
	default void recordOfAClaimOnceShowsItsAttempts() {
		Call once = Call.fresh(this).type(ClaimType.ONCE).acquire();
		once.duplicate().claim();
		IdempotencyRecord record = find(once);
		assertThat(record.state()).isEqualTo(State.ONCE);
		assertThat(record.attempts()).isEqualTo(2);
		assertThat(record.leaseRest()).isEqualTo(Duration.ZERO);
	}

	@Test
	default void recordOfAnUnusedTokenIsIssued() {
		Call token = Call.freshToken(this);
		store().issue(token.key(), Call.LONG);
		IdempotencyRecord record = find(token);
		assertThat(record.state()).isEqualTo(State.ISSUED);
		assertThat(record.claimedAt()).isNull();
		assertThat(record.retentionRest()).isPositive().isLessThanOrEqualTo(Call.LONG);
		assertThat(evict(token, false)).isEqualTo(Eviction.EVICTED);
		Expect.unknownToken("ISSUED, evicted, claim: UnknownToken", token.claim());
	}

	@Test
	default void recordOfADeadOwnerIsAbandonedAndMayBeEvicted() {
		Call dead = Call.fresh(this).lease(tick()).acquire();
		Call released = Call.fresh(this).lease(tick()).acquire();
		Call expired = Call.fresh(this).acquire();
		expired.complete("done", tick());
		elapse(tick().multipliedBy(3));
		assertThat(find(dead).state()).isEqualTo(State.ABANDONED);
		assertThat(find(dead).leaseRest()).isEqualTo(Duration.ZERO);
		Call successor = released.duplicate().acquire();
		successor.release();
		assertThat(find(successor).state()).isEqualTo(State.ABANDONED);
		assertThat(admin(store()).find(RecordKey.of(expired.key()))).as("expired, find").isEmpty();
		assertThat(evict(expired, true)).as("expired, evict").isEqualTo(Eviction.ABSENT);
		assertThat(evict(dead, false)).as("RUNNING, lease over, evict").isEqualTo(Eviction.EVICTED);
		Expect.acquired("RUNNING, lease over, evicted, claim: Acquired and not abandoned", dead.duplicate().claim());
		assertThat(evict(successor, false)).as("orphaned, evict").isEqualTo(Eviction.EVICTED);
		Expect.acquired("orphaned, evicted, claim: Acquired and not abandoned", successor.duplicate().claim());
	}

	@Test
	default void recordShowsWhereItsLastClaimCameFrom() {
		ClaimOrigin traced = new ClaimOrigin("n".repeat(64), "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
		ClaimOrigin node = new ClaimOrigin("node-2", null, null);
		Call first = Call.fresh(this).fingerprint(longest()).origin(traced).acquire();
		first.renew(Call.LONG);
		assertOrigin(first, traced);
		first.execute(Call.LONG, Call.LONG);
		assertOrigin(first, traced);
		first.complete(new StoredResult("f".repeat(32), new byte[] { 1, 2, 3 }), Call.LONG);
		assertOrigin(first, traced);
		for (int replay = 0; replay < 2; replay++) {
			ClaimResult.Completed completed = Expect.is(ClaimResult.Completed.class, "DONE, claim: Completed",
					first.duplicate().origin(node).claim());
			assertThat(completed.origin()).as("DONE, claim: origin").isEqualTo(traced);
			assertThat(completed.result().bytes()).as("DONE, claim: result").containsExactly(1, 2, 3);
		}
		assertOrigin(first, traced);

		Call dead = Call.fresh(this).lease(tick()).origin(traced).acquire();
		Call once = Call.fresh(this).type(ClaimType.ONCE).origin(node).acquire();
		once.duplicate().origin(traced).claim();
		assertOrigin(once, node);
		elapse(tick().multipliedBy(3));
		Call successor = dead.duplicate().origin(node).acquire();
		assertOrigin(dead, node);
		successor.release();
		assertOrigin(dead, node);
		assertOrigin(Call.fresh(this).acquire(), ClaimOrigin.UNKNOWN);
	}

	@Test
	default void tokenThatIsGivenBackComesFromNobody() {
		Call token = Call.freshToken(this);
		store().issue(token.key(), Call.LONG);
		Call used = token.origin(new ClaimOrigin("node-1", null, null)).acquire();
		assertThat(find(used).node()).isEqualTo("node-1");
		used.release();
		assertThat(find(used).state()).isEqualTo(State.ISSUED);
		assertThat(find(used).node()).as("ISSUED: node").isNull();
	}

	private static Fingerprint longest() {
		return Fingerprint.of("a".repeat(16)).add("first").build();
	}

	private void assertOrigin(Call call, ClaimOrigin origin) {
		IdempotencyRecord record = find(call);
		assertThat(record.node()).as("%s: node", record.state())
			.isEqualTo(origin.node().isEmpty() ? null : origin.node());
		assertThat(record.traceId()).as("%s: trace id", record.state()).isEqualTo(origin.traceId());
	}

	@Test
	default void evictedKeyIsNew() {
		Call done = Call.fresh(this).acquire();
		done.complete("done");
		assertThat(evict(done, false)).as("DONE, evict").isEqualTo(Eviction.EVICTED);
		assertThat(admin(store()).find(RecordKey.of(done.key()))).as("evicted, find").isEmpty();
		assertThat(evict(done, false)).as("evicted, evict").isEqualTo(Eviction.ABSENT);
		Call next = done.duplicate().otherFingerprint();
		Expect.acquired("evicted, claim with another fingerprint: Acquired", next.claim());
		Call once = Call.fresh(this).type(ClaimType.ONCE).acquire();
		assertThat(evict(once, false)).as("ONCE, evict").isEqualTo(Eviction.EVICTED);
		Expect.acquired("ONCE, evicted, claim: Acquired", once.duplicate().claim());
	}

	@Test
	default void recordOfALiveCallIsEvictedByForceOnly() {
		Call running = Call.fresh(this).acquire();
		assertThat(evict(running, false)).as("RUNNING, evict").isEqualTo(Eviction.RUNNING);
		Expect.inProgress("RUNNING, eviction rejected, claim: InProgress", running.duplicate().claim());
		assertThat(evict(running, true)).as("RUNNING, evict by force").isEqualTo(Eviction.EVICTED);
		Expect.rejected("RUNNING, evicted, renew by the owner", running.renew(Call.LONG));
		Expect.accepted("RUNNING, evicted, complete by the owner", running.complete("done"));
		Call lost = Call.fresh(this).acquire();
		evict(lost, true);
		Call next = lost.duplicate().acquire();
		Expect.rejected("RUNNING, evicted and claimed, complete by the owner", lost.complete("done"));
		Expect.accepted("RUNNING, evicted and claimed, complete by the next", next.complete("done"));
		Call executed = Call.fresh(this).acquire();
		executed.execute(Call.LONG, Call.LONG);
		assertThat(evict(executed, false)).as("COMMITTED, evict").isEqualTo(Eviction.RUNNING);
		assertThat(evict(executed, true)).as("COMMITTED, evict by force").isEqualTo(Eviction.EVICTED);
	}

	@Test
	default void recordsOfAnOperationAreListed() {
		String operation = "list-" + UUID.randomUUID() + "[*]?";
		List<String> ids = new ArrayList<>();
		for (int i = 0; i < 25; i++) {
			Call call = of(operation, (i % 2 == 0) ? Caller.GLOBAL : Caller.principal("user " + i)).acquire();
			ids.add(call.key().hashHex());
		}
		of(operation + "2", Caller.GLOBAL).acquire();
		of("2" + operation, Caller.GLOBAL).acquire();
		List<IdempotencyRecord> records = all(RecordSelection.ofOperation(operation, operation), 1000);
		assertThat(records).extracting(IdempotencyRecord::id).containsOnlyOnceElementsOf(ids).hasSameSizeAs(ids);
		assertThat(records).extracting(IdempotencyRecord::state).containsOnly(State.RUNNING);
	}

	@Test
	default void recordsOfOneCallerAreListedPageByPage() {
		Caller caller = Caller.principal(UUID.randomUUID().toString());
		List<String> ids = new ArrayList<>();
		for (int i = 0; i < 25; i++) {
			ids.add(of("erase" + i % 3, caller).acquire().key().hashHex());
		}
		for (Caller other : List.of(caller.with("issuer", List.of("a")), Caller.scope(caller.name()), Caller.GLOBAL,
				Caller.ANONYMOUS, Caller.principal(caller.name() + "2"))) {
			of("erase1", other).acquire();
		}
		IdempotencyKey token = IdempotencyKey.ofToken(caller, UUID.randomUUID().toString());
		store().issue(token, Call.LONG);
		ids.add(token.hashHex());
		List<IdempotencyRecord> records = all(RecordSelection.ofCaller(RecordKey.of(token).caller()), 7);
		assertThat(records).extracting(IdempotencyRecord::id).containsOnlyOnceElementsOf(ids).hasSameSizeAs(ids);
		assertThat(records).extracting(IdempotencyRecord::callerId)
			.containsOnly(RecordKey.of(token).caller().toString());
		assertThat(records).extracting(IdempotencyRecord::operation)
			.containsOnly("erase0", "erase1", "erase2", "token");
	}

	/** A record may be returned twice, but counts once. */
	private List<IdempotencyRecord> all(RecordSelection selection, int count) {
		List<IdempotencyRecord> records = new ArrayList<>();
		String cursor = null;
		do {
			IdempotencyRecordPage page = admin(anotherStore()).scan(selection, cursor, count);
			for (IdempotencyRecord record : page.records()) {
				if (records.stream().noneMatch((other) -> other.id().equals(record.id()))) {
					records.add(record);
				}
			}
			cursor = page.cursor();
		}
		while (cursor != null);
		return records;
	}

	@Test
	default void cursorOfNoStoreIsRejected() {
		RecordAdmin admin = admin(store());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> admin.scan(RecordSelection.ofOperation("none", "none"), "'; drop table", 10));
	}

}
