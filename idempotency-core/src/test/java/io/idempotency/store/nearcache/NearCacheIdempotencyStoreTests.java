package io.idempotency.store.nearcache;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.github.benmanes.caffeine.cache.Cache;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore.Look;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class NearCacheIdempotencyStoreTests {

	private static final Duration TTL = Duration.ofMinutes(2);

	private static final Duration DAY = Duration.ofDays(1);

	private static final IdempotencyKey KEY = key("1");

	private static final Fingerprint FINGERPRINT = Fingerprint.of("test").add("a").build();

	private static final Fingerprint OTHER = Fingerprint.of("test").add("b").build();

	private final AtomicLong nanos = new AtomicLong(-17);

	private final AnsweringStore store = new AnsweringStore();

	private final NearCacheIdempotencyStore near = new NearCacheIdempotencyStore(this.store, 1_000_000, TTL,
			this.nanos::get);

	@Test
	void resultIsGivenAgainWithoutAskingTheStore() {
		this.store.answer(completed("done", DAY));
		assertThat(claim()).isEqualTo(completed("done", DAY));
		advance(Duration.ofSeconds(90));
		assertThat(claim()).isEqualTo(completed("done", DAY.minusSeconds(90)));
		assertThat(claim()).isEqualTo(completed("done", DAY.minusSeconds(90)));
		assertThat(this.store.calls).isEqualTo(1);
	}

	@Test
	void resultThatIsOnItsWayDuringAnEvictionIsNotKept() {
		this.store.admin = new MemoryIdempotencyStore(10_000).admin().orElseThrow();
		this.store.answer(completed("done", DAY));
		this.store.delay(() -> this.near.admin().orElseThrow().evict(RecordKey.of(KEY), false));
		assertThat(claim()).as("the answer from before").isEqualTo(completed("done", DAY));
		assertThat(here(KEY)).isEmpty();
		claim();
		assertThat(here(KEY)).as("the answer from after").isPresent();
	}

	/** A replay does not make the answer younger. */
	@Test
	void evictionReachesAnotherNodeWithinItsTimeToLive() {
		MemoryIdempotencyStore shared = new MemoryIdempotencyStore(10_000);
		NearCacheIdempotencyStore here = new NearCacheIdempotencyStore(shared, 1_000_000, TTL, this.nanos::get);
		NearCacheIdempotencyStore there = new NearCacheIdempotencyStore(shared, 1_000_000, TTL, this.nanos::get);
		ClaimResult claimed = shared.claim(request(KEY, FINGERPRINT));
		shared.complete(Completion.result(((ClaimResult.Acquired) claimed).claim(), FINGERPRINT, result("done"), DAY));
		assertThat(here.claim(request(KEY, FINGERPRINT))).isInstanceOf(ClaimResult.Completed.class);
		assertThat(there.claim(request(KEY, FINGERPRINT))).isInstanceOf(ClaimResult.Completed.class);
		assertThat(here.admin().orElseThrow().evict(RecordKey.of(KEY), false)).isEqualTo(RecordAdmin.Eviction.EVICTED);
		assertThat(here.find(KEY, FINGERPRINT, Look.LOCAL)).as("the node of the operator forgets at once").isEmpty();
		advance(TTL.minusNanos(1));
		assertThat(there.claim(request(KEY, FINGERPRINT))).isInstanceOf(ClaimResult.Completed.class);
		assertThat(there.find(KEY, FINGERPRINT, Look.LOCAL)).isPresent();
		advance(Duration.ofNanos(1));
		assertThat(there.find(KEY, FINGERPRINT, Look.LOCAL)).isEmpty();
		assertThat(there.claim(request(KEY, FINGERPRINT))).isInstanceOf(ClaimResult.Acquired.class);
		assertThat(here.claim(request(KEY, FINGERPRINT))).isInstanceOf(ClaimResult.InProgress.class);
	}

	@Test
	void lookFindsWhatAClaimIsGiven() {
		this.store.answer(completed("done", DAY));
		claim();
		advance(Duration.ofSeconds(90));
		assertThat(look()).contains(completed("done", DAY.minusSeconds(90)));
		assertThat(this.store.calls).isEqualTo(1);
	}

	@Test
	void resultOfALookIsKeptFromBeforeTheStoreWasAsked() {
		this.store.answer(completed("done", DAY));
		this.store.delay(() -> advance(Duration.ofSeconds(9)));
		assertThat(look()).contains(completed("done", DAY));
		assertThat(claim()).isEqualTo(completed("done", DAY.minusSeconds(9)));
		advance(TTL.minusSeconds(9).minusNanos(1));
		look();
		assertThat(this.store.calls).isEqualTo(1);
		advance(Duration.ofNanos(1));
		look();
		assertThat(this.store.calls).isEqualTo(2);
	}

	@Test
	void resultOfALookThatIsOnItsWayDuringAnEvictionIsNotKept() {
		this.store.admin = new MemoryIdempotencyStore(10_000).admin().orElseThrow();
		this.store.answer(completed("done", DAY));
		this.store.delay(() -> this.near.admin().orElseThrow().evict(RecordKey.of(KEY), false));
		assertThat(look()).as("the answer from before").contains(completed("done", DAY));
		assertThat(here(KEY)).isEmpty();
	}

	@Test
	void lookThatFindsNothingIsAskedEveryTime() {
		this.store.answer(new ClaimResult.InProgress(DAY));
		assertThat(look()).isEmpty();
		assertThat(look()).isEmpty();
		assertThat(this.store.calls).isEqualTo(2);
	}

	@Test
	void lookOfAnotherFingerprintIsForTheStore() {
		this.store.answer(completed("done", DAY));
		claim();
		this.store.answer(new ClaimResult.Mismatch());
		assertThat(this.near.find(KEY, OTHER, Look.RESULT)).isEmpty();
		assertThat(this.store.calls).isEqualTo(2);
	}

	private Optional<ClaimResult.Completed> look() {
		return this.near.find(KEY, FINGERPRINT, Look.RESULT);
	}

	private Optional<ClaimResult.Completed> here(IdempotencyKey key) {
		return this.near.find(key, FINGERPRINT, Look.LOCAL);
	}

	@Test
	void whatAStoreDoesNotOfferIsNotOffered() {
		assertThat(this.near.admin()).isEmpty();
	}

	@Test
	void hitsAndMissesAreCountedOnceForEachCall() {
		AtomicReference<Cache<?, ?>> monitored = new AtomicReference<>();
		NearCacheIdempotencyStore near = new NearCacheIdempotencyStore(this.store, 1_000_000, TTL, monitored::set);
		this.store.answer(completed("done", DAY));
		// A request that is no repetition is looked for, and then claimed.
		assertThat(near.find(KEY, FINGERPRINT, Look.LOCAL)).isEmpty();
		this.store.answer(new ClaimResult.Mismatch());
		assertThat(near.find(KEY, FINGERPRINT, Look.RESULT)).isEmpty();
		this.store.answer(completed("done", DAY));
		near.claim(request(KEY, FINGERPRINT));
		assertThat(near.find(KEY, FINGERPRINT, Look.RESULT)).isPresent();
		assertThat(monitored.get().stats().missCount()).isEqualTo(1);
		assertThat(monitored.get().stats().hitCount()).isEqualTo(1);
	}

	@Test
	void typeIsThatOfTheStore() {
		assertThat(this.near.type()).isEqualTo("answering");
	}

	@Test
	void resultIsFoundAsLongAsItIsGiven() {
		assertThat(here(KEY)).isEmpty();
		this.store.answer(completed("done", DAY));
		claim();
		advance(TTL.minusNanos(1));
		assertThat(here(KEY)).contains(completed("done", DAY.minus(TTL).plusNanos(1)));
		assertThat(this.near.find(KEY, OTHER, Look.LOCAL)).isEmpty();
		assertThat(here(key("2"))).isEmpty();
		advance(Duration.ofNanos(1));
		assertThat(here(KEY)).isEmpty();
		assertThat(this.store.calls).isEqualTo(1);
	}

	@Test
	void storeIsAskedAgainAfterTheTimeToLive() {
		this.store.answer(completed("done", DAY));
		claim();
		advance(TTL.minusNanos(1));
		claim();
		assertThat(this.store.calls).isEqualTo(1);
		advance(Duration.ofNanos(1));
		claim();
		assertThat(this.store.calls).isEqualTo(2);
	}

	@Test
	void resultIsNotGivenLongerThanItsRecordLives() {
		this.store.answer(completed("done", Duration.ofSeconds(10)));
		claim();
		advance(Duration.ofSeconds(10).minusNanos(1));
		assertThat(claim()).isEqualTo(completed("done", Duration.ofNanos(1)));
		advance(Duration.ofNanos(1));
		this.store.answer(acquired());
		assertThat(claim()).isInstanceOf(ClaimResult.Acquired.class);
	}

	@Test
	void bothTimesCountFromBeforeTheStoreWasAsked() {
		this.store.answer(completed("done", Duration.ofSeconds(10)));
		this.store.delay(() -> advance(Duration.ofSeconds(9)));
		claim();
		assertThat(claim()).isEqualTo(completed("done", Duration.ofSeconds(1)));
		advance(Duration.ofSeconds(1));
		claim();
		assertThat(this.store.calls).isEqualTo(2);
	}

	@Test
	void answerThatTookLongerThanItsRecordLivesIsNotGivenAgain() {
		this.store.answer(completed("done", Duration.ofSeconds(10)));
		this.store.delay(() -> advance(Duration.ofSeconds(10)));
		assertThat(claim()).isEqualTo(completed("done", Duration.ofSeconds(10)));
		claim();
		assertThat(this.store.calls).isEqualTo(2);
	}

	@Test
	void endlessTimesDoNotOverflow() {
		Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
		NearCacheIdempotencyStore endlessNear = new NearCacheIdempotencyStore(this.store, 1_000_000, endless,
				this.nanos::get);
		this.store.answer(completed("done", endless));
		endlessNear.claim(request(KEY, FINGERPRINT));
		advance(Duration.ofDays(365));
		assertThat(endlessNear.claim(request(KEY, FINGERPRINT))).isInstanceOfSatisfying(ClaimResult.Completed.class,
				(completed) -> assertThat(completed.rest()).isGreaterThan(Duration.ofDays(100_000)));
		assertThat(this.store.calls).isEqualTo(1);
	}

	@Test
	void mismatchIsForTheStoreToTellAndTheResultStaysNear() {
		this.store.answer(completed("done", DAY));
		claim();
		this.store.answer(new ClaimResult.Mismatch());
		assertThat(this.near.claim(request(KEY, OTHER))).isInstanceOf(ClaimResult.Mismatch.class);
		assertThat(this.near.claim(request(KEY, OTHER))).isInstanceOf(ClaimResult.Mismatch.class);
		assertThat(this.store.calls).isEqualTo(3);
		assertThat(claim()).isInstanceOf(ClaimResult.Completed.class);
		assertThat(this.store.calls).isEqualTo(3);
	}

	@Test
	void resultThatWasFoundWithoutAFingerprintIsNotGivenToEveryFingerprint() {
		this.store.answer(completed("done", DAY));
		this.near.claim(request(KEY, Fingerprint.NONE));
		this.near.claim(request(KEY, Fingerprint.NONE));
		assertThat(this.store.calls).isEqualTo(1);
		this.store.answer(new ClaimResult.Mismatch());
		assertThat(claim()).isInstanceOf(ClaimResult.Mismatch.class);
	}

	@Test
	void claimWithoutAFingerprintIsAnsweredByTheStore() {
		this.store.answer(completed("done", DAY));
		claim();
		this.near.claim(request(KEY, Fingerprint.NONE));
		assertThat(this.store.calls).isEqualTo(2);
	}

	@Test
	void anotherKeyIsAnotherResult() {
		this.store.answer(completed("one", DAY));
		claim();
		this.store.answer(completed("two", DAY));
		assertThat(this.near.claim(request(key("2"), FINGERPRINT))).isEqualTo(completed("two", DAY));
		assertThat(claim()).isEqualTo(completed("one", DAY));
	}

	@ParameterizedTest
	@MethodSource("answersThatMayChange")
	void whateverIsNotFinishedIsAskedEveryTime(ClaimResult answer) {
		this.store.answer(answer);
		assertThat(claim()).isSameAs(answer);
		assertThat(claim()).isSameAs(answer);
		assertThat(this.store.calls).isEqualTo(2);
	}

	static Stream<ClaimResult> answersThatMayChange() {
		return Stream.of(acquired(), new ClaimResult.InProgress(DAY), new ClaimResult.Tombstone(),
				new ClaimResult.Mismatch(), new ClaimResult.Abandoned(), new ClaimResult.Duplicate(2),
				new ClaimResult.UnknownToken());
	}

	@Test
	void claimOfTypeOnceGoesToTheStoreEveryTime() {
		this.store.answer(completed("done", DAY));
		claim();
		this.store.answer(new ClaimResult.Duplicate(2));
		assertThat(this.near.claim(once())).isEqualTo(new ClaimResult.Duplicate(2));
		assertThat(this.near.claim(once())).isEqualTo(new ClaimResult.Duplicate(2));
		assertThat(this.store.calls).isEqualTo(3);
		assertThat(claim()).isEqualTo(completed("done", DAY));
	}

	@ParameterizedTest
	@MethodSource("answersThatMayChange")
	void resultIsForgottenWhenTheStoreDoesNotHaveItAnyMore(ClaimResult answer) {
		this.store.answer(completed("evicted", DAY));
		claim();
		this.store.answer(answer);
		this.near.claim(request(KEY, OTHER));
		this.store.answer(completed("rerun", DAY));
		boolean kept = answer instanceof ClaimResult.Mismatch;
		assertThat(claim()).isEqualTo(completed(kept ? "evicted" : "rerun", DAY));
	}

	@Test
	void newerAnswerReplacesTheOlder() {
		this.store.answer(completed("older", DAY));
		claim();
		advance(TTL);
		this.store.answer(completed("newer", DAY));
		claim();
		assertThat(claim()).isEqualTo(completed("newer", DAY));
		assertThat(this.store.calls).isEqualTo(2);
	}

	@Test
	void failureOfTheStoreIsPassedOnAndNotKept() {
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(this::claim);
		this.store.answer(completed("done", DAY));
		assertThat(claim()).isEqualTo(completed("done", DAY));
	}

	@Test
	void storeThatIsDownDoesNotKeepAnybodyFromAResultThatIsNear() {
		this.store.answer(completed("done", DAY));
		claim();
		this.store.answer(null);
		assertThat(claim()).isEqualTo(completed("done", DAY));
	}

	@Test
	void ownCompletionIsNotTakenForTheRecord() {
		Claim claim = new Claim(KEY, ClaimId.random(), 1, false);
		assertThat(this.near.complete(Completion.result(claim, FINGERPRINT, result("sent again"), DAY))).isTrue();
		this.store.answer(completed("accepted before", Duration.ofMinutes(1)));
		assertThat(claim()).isEqualTo(completed("accepted before", Duration.ofMinutes(1)));
	}

	@Test
	void otherVerbsGoToTheStore() {
		assertThat(this.near.release(KEY, ClaimId.random())).isTrue();
		assertThat(this.near.renew(KEY, ClaimId.random(), TTL)).isTrue();
		assertThat(this.near.issue(IdempotencyKey.ofToken(Caller.GLOBAL, "t"), TTL))
			.isEqualTo(AnsweringStore.EXPIRES_AT);
		assertThat(this.store.calls).isEqualTo(3);
	}

	@Test
	void whatJoinsATransactionIsNotCached() {
		assertThat(this.near.joining()).isEmpty();
		this.store.joining = new AnsweringStore();
		assertThat(this.near.joining()).containsSame(this.store.joining);
	}

	@Test
	void resultsTakeNoMoreRoomThanTheyMay() {
		int each = NearResult.OVERHEAD + 1000;
		NearCacheIdempotencyStore small = new NearCacheIdempotencyStore(this.store, 10 * each, TTL, this.nanos::get);
		this.store.answer(new ClaimResult.Completed(new StoredResult("test", new byte[1000]), DAY));
		List<ClaimRequest> requests = IntStream.range(0, 1000)
			.mapToObj((number) -> request(key("key " + number), FINGERPRINT))
			.toList();
		requests.forEach(small::claim);
		assertThat(requests.stream().filter((request) -> isNear(small, request)).count()).isEqualTo(10);
	}

	@Test
	void resultThatIsLargerThanAllRoomLeavesTheOthersAlone() {
		NearCacheIdempotencyStore small = new NearCacheIdempotencyStore(this.store, 5000, TTL, this.nanos::get);
		this.store.answer(completed("small", DAY));
		small.claim(request(KEY, FINGERPRINT));
		this.store.answer(new ClaimResult.Completed(new StoredResult("test", new byte[5000]), DAY));
		small.claim(request(key("large"), FINGERPRINT));
		assertThat(isNear(small, request(key("large"), FINGERPRINT))).isFalse();
		assertThat(isNear(small, request(KEY, FINGERPRINT))).isTrue();
	}

	@Test
	void wrongArgumentsAreRefusedAtOnce() {
		assertThatIllegalArgumentException().isThrownBy(() -> new NearCacheIdempotencyStore(this.store, 511, TTL))
			.withMessageContaining("maxBytes");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new NearCacheIdempotencyStore(this.store, 512, Duration.ZERO))
			.withMessageContaining("ttl");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new NearCacheIdempotencyStore(this.store, 512, Duration.ofSeconds(-1)))
			.withMessageContaining("ttl");
	}

	private boolean isNear(NearCacheIdempotencyStore cache, ClaimRequest request) {
		// Asked with no store behind it, nothing new gets near.
		this.store.answer(null);
		try {
			return cache.claim(request) instanceof ClaimResult.Completed;
		}
		catch (IdempotencyStoreException ex) {
			return false;
		}
	}

	private void advance(Duration duration) {
		this.nanos.addAndGet(duration.toNanos());
	}

	private ClaimResult claim() {
		return this.near.claim(request(KEY, FINGERPRINT));
	}

	private static ClaimRequest request(IdempotencyKey key, Fingerprint fingerprint) {
		return ClaimRequest.of(key, TTL, DAY).withFingerprint(fingerprint);
	}

	private static ClaimRequest once() {
		return ClaimRequest.of(KEY, TTL, DAY).withFingerprint(FINGERPRINT).withType(ClaimType.ONCE);
	}

	private static IdempotencyKey key(String value) {
		return IdempotencyKey.of("test", Caller.GLOBAL, value);
	}

	private static ClaimResult acquired() {
		return new ClaimResult.Acquired(new Claim(KEY, ClaimId.random(), 1, false));
	}

	private static ClaimResult.Completed completed(String text, Duration rest) {
		return new ClaimResult.Completed(result(text), rest);
	}

	private static StoredResult result(String text) {
		return new StoredResult("test", text.getBytes(StandardCharsets.UTF_8));
	}

}
