package io.idempotency.store.memory;

import java.time.Duration;

import io.idempotency.engine.MovableClock;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.ClaimResult.Completed;
import io.idempotency.store.ClaimResult.Duplicate;
import io.idempotency.store.ClaimResult.InProgress;
import io.idempotency.store.ClaimResult.KeyReused;
import io.idempotency.store.ClaimResult.ResultUnavailable;
import io.idempotency.store.ClaimResult.UnknownToken;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What happens when the bytes are used up, and that none is lost.
 */
class MemoryIdempotencyStoreBoundTests {

	private static final int RECORD = MemoryIdempotencyStore.RECORD_BYTES;

	private static final int RESULT = MemoryIdempotencyStore.RESULT_BYTES;

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration RETENTION = Duration.ofHours(24);

	private static final Duration TTL = Duration.ofMinutes(10);

	private static final Fingerprint FINGERPRINT = Fingerprint.of("test1").add("a").build();

	private final MovableClock clock = new MovableClock();

	@Test
	void bytesOfRecordAndResultAreCountedAndGivenBack() {
		MemoryIdempotencyStore store = store(100 * RECORD);
		Claim claim = acquire(store, "a");
		assertThat(store.usedBytes()).isEqualTo(RECORD);
		store.renew(claim.key(), claim.id(), LEASE);
		assertThat(store.usedBytes()).isEqualTo(RECORD);
		complete(store, claim, 1000);
		assertThat(store.usedBytes()).isBetween(RECORD + 1000L, RECORD + 1200L);
		this.clock.advance(RETENTION);
		assertThat(store.renew(claim.key(), claim.id(), LEASE)).isFalse();
		assertThat(store.usedBytes()).isZero();
		assertThat(store.size()).isZero();
	}

	@Test
	void releasedAndForgottenClaimsGiveTheirBytesBack() {
		MemoryIdempotencyStore store = store(RECORD);
		for (int i = 0; i < 100; i++) {
			Claim released = acquire(store, "a" + i);
			store.release(released.key(), released.id());
			store.complete(Completion.forget(acquire(store, "b" + i), FINGERPRINT));
		}
		assertThat(store.usedBytes()).isZero();
		assertThat(store.size()).isZero();
	}

	@Test
	void longKeysTakeNoMoreRoomThanShortOnes() {
		MemoryIdempotencyStore store = store(100 * RECORD);
		acquire(store, "x".repeat(10_000));
		assertThat(store.usedBytes()).isEqualTo(RECORD);
	}

	@Test
	void traceOfTheRunIsCounted() {
		MemoryIdempotencyStore store = store(100 * RECORD);
		ClaimOrigin origin = new ClaimOrigin("node", "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
		store.claim(request(key("a"), FINGERPRINT, RETENTION).withOrigin(origin));
		assertThat(store.usedBytes()).isEqualTo(RECORD + 160);
	}

	/**
	 * A record that lives longer may stand before one that expires in the same seconds.
	 */
	@Test
	void expiredRecordsGoWithinSecondsWhateverStandsBeforeThem() {
		MemoryIdempotencyStore store = store(2 * RECORD);
		acquire(store, "longer", Duration.ofSeconds(62));
		acquire(store, "shorter", Duration.ofSeconds(61));
		this.clock.advance(Duration.ofSeconds(61).plusSeconds(5));
		acquire(store, "new");
		assertThat(store.usedBytes()).isEqualTo(RECORD);
	}

	@Test
	void expiredRecordsGoFirst() {
		MemoryIdempotencyStore store = store(3 * RECORD + 300);
		complete(store, acquire(store, "done"), 100);
		acquire(store, "short", Duration.ofMinutes(1));
		acquire(store, "live");
		this.clock.advance(Duration.ofMinutes(2));
		acquire(store, "new");
		assertThat(claim(store, "done")).isInstanceOf(Completed.class);
		assertThat(claim(store, "live")).isInstanceOf(Acquired.class);
		assertThat(store.size()).isEqualTo(3);
	}

	@Test
	void resultsBecomeTombstonesInTheOrderOfCompletion() {
		MemoryIdempotencyStore store = store(3 * RECORD + 2 * (RESULT + 1000) + RECORD);
		Claim claimedFirst = acquire(store, "completed second");
		Claim claimedSecond = acquire(store, "completed first");
		complete(store, claimedSecond, 1000);
		complete(store, claimedFirst, 1000);
		acquire(store, "fits");
		acquire(store, "fits too");
		acquire(store, "does not fit");
		assertThat(claim(store, "completed first")).isInstanceOf(ResultUnavailable.class);
		assertThat(claim(store, "completed second")).isInstanceOf(Completed.class);
	}

	@Test
	void newResultsPushOldOnesOut() {
		MemoryIdempotencyStore store = store(10 * RECORD + 3 * (RESULT + 1000));
		for (int i = 0; i < 10; i++) {
			complete(store, acquire(store, "call " + i), 1000);
		}
		for (int i = 0; i < 7; i++) {
			assertThat(claim(store, "call " + i)).as("call %d", i).isInstanceOf(ResultUnavailable.class);
		}
		for (int i = 7; i < 10; i++) {
			assertThat(claim(store, "call " + i)).as("call %d", i).isInstanceOf(Completed.class);
		}
	}

	@Test
	void rejectedCallsAreForgottenBeforeAnyResultIsDropped() {
		MemoryIdempotencyStore store = store(4 * RECORD + 4 * (RESULT + 100));
		complete(store, acquire(store, "success"), 100);
		complete(store, acquire(store, "failure"), 100, ResultKind.FAILURE);
		complete(store, acquire(store, "rejection 1"), 100, ResultKind.REJECTION);
		complete(store, acquire(store, "rejection 2"), 100, ResultKind.REJECTION);
		acquire(store, "new 1");
		assertThat(claim(store, "success")).isInstanceOf(Completed.class);
		assertThat(claim(store, "failure")).isInstanceOf(Completed.class);
		assertThat(claim(store, "rejection 2")).isInstanceOf(Completed.class);
		assertThat(store.size()).isEqualTo(4);
		acquire(store, "new 2");
		assertThat(claim(store, "success")).isInstanceOf(Completed.class);
		assertThat(claim(store, "failure")).isInstanceOf(Completed.class);
		assertThat(claim(store, "rejection 2")).isInstanceOf(Acquired.class);
	}

	@Test
	void rememberedFailuresBecomeTombstonesBeforeResultsOfSuccesses() {
		MemoryIdempotencyStore store = store(2 * RECORD + RESULT + 100 + RESULT + RECORD);
		complete(store, acquire(store, "success"), 100);
		complete(store, acquire(store, "failure"), RECORD, ResultKind.FAILURE);
		acquire(store, "new");
		assertThat(claim(store, "success")).isInstanceOf(Completed.class);
		assertThat(claim(store, "failure")).isInstanceOf(ResultUnavailable.class);
		assertFull(store, "newer");
		assertThat(claim(store, "failure")).isInstanceOf(ResultUnavailable.class);
	}

	@Test
	void floodOfRejectedCallsNeverFillsTheStore() {
		MemoryIdempotencyStore store = store(10 * RECORD);
		complete(store, acquire(store, "success"), 100);
		for (int i = 0; i < 1000; i++) {
			Claim rejected = acquire(store, "rejected " + i);
			if (i % 2 == 0) {
				complete(store, rejected, 100 + i, ResultKind.REJECTION);
			}
			else {
				store.complete(Completion.withoutResult(rejected, FINGERPRINT, RETENTION, ResultKind.REJECTION));
			}
		}
		assertThat(claim(store, "success")).isInstanceOf(Completed.class);
		for (int i = 0; i < 9; i++) {
			acquire(store, "new " + i);
		}
		assertFull(store, "one more");
	}

	/** What the dead owner has done is not known. */
	@Test
	void rejectionOfACallThatTookOverIsNotForgotten() {
		MemoryIdempotencyStore store = store(2 * RECORD);
		acquire(store, "a");
		this.clock.advance(LEASE);
		Claim successor = ((Acquired) claim(store, "a")).claim();
		assertThat(successor.abandoned()).isTrue();
		complete(store, successor, 100, ResultKind.REJECTION);
		acquire(store, "b");
		assertFull(store, "c");
		assertThat(claim(store, "a")).isInstanceOf(ResultUnavailable.class);
	}

	@Test
	void tokenOfARejectedCallIsUnknownWhenThatIsForgotten() {
		MemoryIdempotencyStore store = store(4 * RECORD);
		store.issue(token("1"), TTL);
		Claim rejected = ((Acquired) store.claim(request(token("1")))).claim();
		complete(store, rejected, 100, ResultKind.REJECTION);
		assertThat(store.claim(request(token("1")))).isInstanceOf(Completed.class);
		for (int i = 0; i < 4; i++) {
			acquire(store, "call " + i);
		}
		assertThat(store.claim(request(token("1")))).isInstanceOf(UnknownToken.class);
	}

	@Test
	void droppedResultKeepsFingerprintOwnerAndRetention() {
		MemoryIdempotencyStore store = store(2 * RECORD);
		Claim claim = acquire(store, "a");
		complete(store, claim, RECORD - RESULT);
		this.clock.advance(Duration.ofHours(23));
		acquire(store, "b");
		assertThat(claim(store, "a")).isInstanceOf(ResultUnavailable.class);
		assertThat(store.claim(request(key("a"), Fingerprint.of("test1").add("b").build(), RETENTION)))
			.isInstanceOf(KeyReused.class);
		assertThat(complete(store, claim, 10)).isTrue();
		assertThat(store.release(claim.key(), claim.id())).isFalse();
		this.clock.advance(Duration.ofHours(1));
		assertThat(claim(store, "a")).isInstanceOf(Acquired.class);
	}

	@Test
	void newClaimIsRejectedBeforeALiveOneIsForgotten() {
		MemoryIdempotencyStore store = store(2 * RECORD);
		Claim first = acquire(store, "a");
		Claim second = acquire(store, "b");
		assertFull(store, "c");
		assertThat(claim(store, "a")).isInstanceOf(InProgress.class);
		assertThat(store.renew(first.key(), first.id(), LEASE)).isTrue();
		assertThat(store.release(second.key(), second.id())).isTrue();
		assertThat(claim(store, "c")).isInstanceOf(Acquired.class);
	}

	@Test
	void floodOfTokensLeavesTheRoomOfClaims() {
		MemoryIdempotencyStore store = store(8 * RECORD);
		store.issue(token("1"), TTL);
		store.issue(token("2"), TTL);
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.issue(token("3"), TTL))
			.withMessageContaining("cannot issue more tokens")
			.withMessageContaining("idempotency.token.ttl");
		assertThat(store.size()).isEqualTo(2);
		for (int i = 0; i < 6; i++) {
			acquire(store, "call " + i);
		}
		assertFull(store, "one more");
		assertThat(store.usedBytes()).isEqualTo(8 * RECORD);
	}

	@Test
	void tokensAreIssuedAgainWhenOthersExpire() {
		MemoryIdempotencyStore store = store(8 * RECORD);
		acquire(store, "live");
		store.issue(token("1"), TTL);
		store.issue(token("2"), TTL.plusSeconds(1));
		this.clock.advance(TTL);
		store.issue(token("3"), TTL);
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.issue(token("4"), TTL));
		assertThat(store.claim(request(token("2")))).isInstanceOf(Acquired.class);
		assertThat(store.claim(request(token("1")))).isInstanceOf(UnknownToken.class);
	}

	@Test
	void usedTokenGivesItsShareBackAndAReleasedOneAlwaysFindsRoom() {
		MemoryIdempotencyStore store = store(4 * RECORD);
		store.issue(token("1"), TTL);
		Claim used = ((Acquired) store.claim(request(token("1")))).claim();
		store.issue(token("2"), TTL);
		assertThat(store.release(used.key(), used.id())).isTrue();
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.issue(token("3"), TTL));
		assertThat(store.claim(request(token("1")))).isInstanceOf(Acquired.class);
		assertThat(store.claim(request(token("2")))).isInstanceOf(Acquired.class);
		store.issue(token("3"), TTL);
		assertThat(store.size()).isEqualTo(3);
	}

	@Test
	void issuedTokenThatFindsNoRoomTakesNoShare() {
		MemoryIdempotencyStore store = store(2 * RECORD);
		Claim first = acquire(store, "a");
		acquire(store, "b");
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.issue(token("1"), TTL))
			.withMessageContaining("is full");
		store.release(first.key(), first.id());
		assertThat(store.issue(token("1"), TTL)).isNotNull();
	}

	@Test
	void newClaimIsRejectedBeforeATombstoneIsForgotten() {
		MemoryIdempotencyStore store = store(2 * RECORD);
		complete(store, acquire(store, "a"), 10);
		store.complete(Completion.withoutResult(acquire(store, "b"), FINGERPRINT, RETENTION));
		assertFull(store, "c");
		assertThat(claim(store, "a")).isInstanceOf(ResultUnavailable.class);
		assertThat(claim(store, "b")).isInstanceOf(ResultUnavailable.class);
		this.clock.advance(RETENTION);
		assertThat(claim(store, "c")).isInstanceOf(Acquired.class);
	}

	@Test
	void executedAndOnceAndAbandonedAndIssuedAreNotForgotten() {
		MemoryIdempotencyStore store = store(4 * RECORD);
		IdempotencyKey token = IdempotencyKey.ofToken(Caller.GLOBAL, "token");
		store.issue(token, RETENTION);
		store.complete(Completion.executed(acquire(store, "executed"), FINGERPRINT, LEASE, RETENTION));
		store.claim(once("once"));
		acquire(store, "abandoned");
		this.clock.advance(Duration.ofHours(1));
		assertFull(store, "new");
		assertThat(claim(store, "executed")).isInstanceOf(ResultUnavailable.class);
		assertThat(store.claim(once("once"))).isEqualTo(new Duplicate(2));
		assertThat(((Acquired) claim(store, "abandoned")).claim().abandoned()).isTrue();
		assertThat(store.claim(request(token, FINGERPRINT, RETENTION))).isInstanceOf(Acquired.class);
	}

	@Test
	void tokenIsNotIssuedWithoutRoom() {
		MemoryIdempotencyStore store = store(RECORD);
		acquire(store, "a");
		IdempotencyKey token = IdempotencyKey.ofToken(Caller.GLOBAL, "token");
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.issue(token, RETENTION));
	}

	@Test
	void rejectedClaimLeavesNothing() {
		MemoryIdempotencyStore store = store(RECORD + RECORD / 2);
		Claim claim = acquire(store, "a");
		for (int i = 0; i < 10; i++) {
			assertFull(store, "b" + i);
		}
		assertThat(store.usedBytes()).isEqualTo(RECORD);
		assertThat(store.size()).isOne();
		store.release(claim.key(), claim.id());
		assertThat(store.usedBytes()).isZero();
	}

	@Test
	void completionAlwaysHasRoomForItsResultUnavailable() {
		MemoryIdempotencyStore store = store(2 * RECORD);
		Claim first = acquire(store, "a");
		Claim second = acquire(store, "b");
		assertThat(complete(store, first, 10)).isTrue();
		assertThat(complete(store, second, 10)).isTrue();
		assertThat(claim(store, "a")).isInstanceOf(ResultUnavailable.class);
		assertThat(claim(store, "b")).isInstanceOf(ResultUnavailable.class);
		assertThat(complete(store, first, 10)).as("sent once more").isTrue();
	}

	@Test
	void resultThatCannotFitDropsNoOther() {
		MemoryIdempotencyStore store = store(10 * RECORD);
		complete(store, acquire(store, "small"), 100);
		assertThat(complete(store, acquire(store, "large"), 10 * RECORD)).isTrue();
		assertThat(claim(store, "large")).isInstanceOf(ResultUnavailable.class);
		assertThat(claim(store, "small")).isInstanceOf(Completed.class);
	}

	@Test
	void lateCompletionWithoutRoomFails() {
		MemoryIdempotencyStore store = store(RECORD);
		Claim late = acquire(store, "late");
		store.release(late.key(), late.id());
		Claim other = acquire(store, "other");
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> complete(store, late, 10))
			.withMessageContaining("idempotency.memory.max-size");
		store.release(other.key(), other.id());
		assertThat(complete(store, late, 10)).isTrue();
		assertThat(claim(store, "late")).as("there is room for the tombstone only")
			.isInstanceOf(ResultUnavailable.class);
	}

	@Test
	void everyNewRecordRemovesTwoExpiredOnes() {
		MemoryIdempotencyStore store = store(2000 * RECORD);
		for (int i = 0; i < 1000; i++) {
			acquire(store, "old " + i, Duration.ofMinutes(1));
		}
		this.clock.advance(Duration.ofMinutes(1));
		acquire(store, "new");
		assertThat(store.size()).isEqualTo(999);
		for (int i = 0; i < 499; i++) {
			acquire(store, "new " + i);
		}
		assertThat(store.size()).isEqualTo(500);
		assertThat(store.usedBytes()).isEqualTo(500L * RECORD);
	}

	@Test
	void renewedRecordIsNotRemovedAtItsFirstExpiry() {
		MemoryIdempotencyStore store = store(10 * RECORD);
		Claim claim = acquire(store, "a", Duration.ofSeconds(10));
		store.renew(claim.key(), claim.id(), RETENTION);
		this.clock.advance(Duration.ofHours(1));
		acquire(store, "b");
		assertThat(claim(store, "a")).isInstanceOf(InProgress.class);
	}

	private MemoryIdempotencyStore store(long maxBytes) {
		return new MemoryIdempotencyStore(maxBytes, this.clock);
	}

	private static void assertFull(MemoryIdempotencyStore store, String key) {
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> claim(store, key))
			.withMessageContaining("full")
			.withMessageContaining("idempotency.memory.max-size");
	}

	private static Claim acquire(MemoryIdempotencyStore store, String key) {
		return acquire(store, key, RETENTION);
	}

	private static Claim acquire(MemoryIdempotencyStore store, String key, Duration retention) {
		return ((Acquired) store.claim(request(key(key), FINGERPRINT, retention))).claim();
	}

	private static ClaimResult claim(MemoryIdempotencyStore store, String key) {
		return store.claim(request(key(key), FINGERPRINT, RETENTION));
	}

	private static boolean complete(MemoryIdempotencyStore store, Claim claim, int bytes) {
		return complete(store, claim, bytes, ResultKind.SUCCESS);
	}

	private static boolean complete(MemoryIdempotencyStore store, Claim claim, int bytes, ResultKind kind) {
		StoredResult result = new StoredResult("test", new byte[bytes]);
		return store.complete(Completion.result(claim, FINGERPRINT, result, RETENTION, kind));
	}

	private static ClaimRequest request(IdempotencyKey key, Fingerprint fingerprint, Duration retention) {
		return ClaimRequest.of(key, LEASE, retention).withFingerprint(fingerprint);
	}

	private static ClaimRequest request(IdempotencyKey key) {
		return request(key, FINGERPRINT, RETENTION);
	}

	private static IdempotencyKey token(String value) {
		return IdempotencyKey.ofToken(Caller.ANONYMOUS, value);
	}

	private static ClaimRequest once(String key) {
		return ClaimRequest.of(key(key), LEASE, RETENTION).withType(ClaimType.ONCE);
	}

	private static IdempotencyKey key(String value) {
		return IdempotencyKey.of("orders", Caller.GLOBAL, value);
	}

}
