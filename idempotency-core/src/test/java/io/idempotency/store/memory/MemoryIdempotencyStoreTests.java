package io.idempotency.store.memory;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.engine.MovableClock;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Abandoned;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.ClaimResult.Completed;
import io.idempotency.store.ClaimResult.InProgress;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What the contract of all stores does not say: the clock, and the arguments.
 */
class MemoryIdempotencyStoreTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration RETENTION = Duration.ofHours(24);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

	private final MovableClock clock = new MovableClock();

	private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(1_000_000, this.clock);

	@Test
	void storeHasTheSystemsClockUnlessToldOtherwise() {
		MemoryIdempotencyStore systemStore = new MemoryIdempotencyStore(1_000_000);
		long before = System.currentTimeMillis() * 1000;
		ClaimResult answer = systemStore.claim(request("a", LEASE, RETENTION));
		assertThat(((Acquired) answer).claim().fencingToken()).isGreaterThanOrEqualTo(before);
	}

	@Test
	void stepOfTheWallClockNeitherEndsNorLengthensALease() {
		AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1000);
		for (Duration step : List.of(Duration.ofSeconds(40), Duration.ofSeconds(-40))) {
			MemoryIdempotencyStore steady = new MemoryIdempotencyStore(1_000_000,
					new MemoryIdempotencyStore.SteadyClock(this.clock, nanos::get));
			steady.claim(request("a", LEASE, RETENTION));
			this.clock.advance(step);
			nanos.addAndGet(LEASE.toNanos() - 1000);
			assertThat(steady.claim(request("a", LEASE, RETENTION))).as("step of %s", step)
				.isInstanceOf(InProgress.class);
			nanos.addAndGet(1000);
			assertThat(steady.claim(request("a", LEASE, RETENTION))).as("step of %s", step)
				.isInstanceOf(Acquired.class);
		}
	}

	@Test
	void fenceIsTheClockInMicroseconds() {
		assertThat(acquire("a").fencingToken()).isEqualTo(this.clock.millis() * 1000);
	}

	@Test
	void fenceGrowsThoughTheClockStandsStillOrStepsBack() {
		Claim first = acquire("a");
		this.store.release(first.key(), first.id());
		Claim second = acquire("a");
		assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
		this.clock.advance(Duration.ofHours(-1));
		this.store.release(second.key(), second.id());
		assertThat(acquire("a").fencingToken()).isGreaterThan(second.fencingToken());
	}

	@Test
	void clockThatStepsBackEndsNoLeaseAndForgetsNothing() {
		Claim running = acquire("running");
		Claim done = acquire("done");
		this.store.complete(Completion.withoutResult(done, Fingerprint.NONE, RETENTION));
		this.clock.advance(Duration.ofDays(-2));
		assertThat(this.store.claim(request("running", LEASE, RETENTION))).isInstanceOf(InProgress.class);
		assertThat(this.store.claim(request("done", LEASE, RETENTION)))
			.isInstanceOf(ClaimResult.ResultUnavailable.class);
		assertThat(this.store.complete(Completion.withoutResult(running, Fingerprint.NONE, RETENTION))).isTrue();
	}

	@Test
	void releasedTakeOverIsNobodysThoughTheClockStepsBack() {
		acquire("a");
		this.clock.advance(LEASE);
		Claim second = acquire("a");
		this.store.release(second.key(), second.id());
		this.clock.advance(Duration.ofHours(-1));
		assertThat(this.store.claim(rejecting("a"))).isInstanceOf(Abandoned.class);
	}

	@Test
	void leaseIsLiveUntilTheMicrosecondItEnds() {
		acquire("a");
		this.clock.advance(LEASE.minusMillis(1));
		assertThat(this.store.claim(rejecting("a"))).isEqualTo(new InProgress(Duration.ofMillis(1)));
		this.clock.advance(Duration.ofMillis(1));
		assertThat(this.store.claim(rejecting("a"))).isInstanceOf(Abandoned.class);
	}

	@Test
	void everyDurationMayBeForEver() {
		ClaimRequest request = request("a", FOR_EVER, FOR_EVER);
		Claim claim = ((Acquired) this.store.claim(request)).claim();
		this.clock.advance(Duration.ofDays(100_000));
		assertThat(this.store.claim(request("a", LEASE, RETENTION))).isInstanceOf(InProgress.class);
		assertThat(this.store.renew(claim.key(), claim.id(), FOR_EVER)).isTrue();
		StoredResult result = new StoredResult("test", new byte[0]);
		assertThat(this.store.complete(Completion.result(claim, Fingerprint.NONE, result, FOR_EVER))).isTrue();
		this.clock.advance(Duration.ofDays(100_000));
		assertThat(this.store.claim(request("a", LEASE, RETENTION))).isInstanceOf(Completed.class);
		IdempotencyKey token = IdempotencyKey.ofToken(Caller.GLOBAL, "token");
		assertThat(this.store.issue(token, FOR_EVER)).isAfter(this.clock.instant());
	}

	@Test
	void lateCompletionMayHaveAnEndlessRetention() {
		Claim claim = acquire("a");
		this.store.release(claim.key(), claim.id());
		assertThat(this.store.complete(Completion.withoutResult(claim, Fingerprint.NONE, FOR_EVER))).isTrue();
	}

	@Test
	void onlyTokensAreIssued() {
		IdempotencyKey key = IdempotencyKey.of("orders", Caller.GLOBAL, "a");
		assertThatIllegalArgumentException().isThrownBy(() -> this.store.issue(key, RETENTION))
			.withMessageContaining("orders");
	}

	@Test
	void sizeMustHoldARecord() {
		assertThatIllegalArgumentException().isThrownBy(() -> new MemoryIdempotencyStore(0))
			.withMessageContaining("maxBytes");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new MemoryIdempotencyStore(MemoryIdempotencyStore.RECORD_BYTES - 1));
	}

	@Test
	void resultIsFound() {
		StoredResult result = new StoredResult("text", new byte[] { 1 });
		Claim done = acquire("done");
		this.store.complete(Completion.result(done, Fingerprint.NONE, result, RETENTION));
		assertThat(this.store.find(done.key(), Fingerprint.NONE))
			.contains(new ClaimResult.Completed(result, RETENTION));
	}

	private Claim acquire(String key) {
		return ((Acquired) this.store.claim(request(key, LEASE, RETENTION))).claim();
	}

	private static ClaimRequest request(String key, Duration lease, Duration retention) {
		return ClaimRequest.of(IdempotencyKey.of("orders", Caller.GLOBAL, key), lease, retention);
	}

	private static ClaimRequest rejecting(String key) {
		return ClaimRequest.of(IdempotencyKey.of("orders", Caller.GLOBAL, key), LEASE, RETENTION).withTakeOver(false);
	}

	/**
	 * A step that has waited for its key has a time before that of the step it waited
	 * for, if it looks at the clock too early, and then a record lives longer or shorter
	 * than it was told.
	 */
	@Test
	void clockIsReadWhenTheKeyIsFree() throws Exception {
		AtomicInteger reads = new AtomicInteger();
		CountDownLatch mayGoOn = new CountDownLatch(1);
		MemoryIdempotencyStore contended = new MemoryIdempotencyStore(1_000_000, () -> {
			if (reads.incrementAndGet() == 1) {
				await(mayGoOn);
			}
			return this.clock.instant();
		});
		FutureTask<ClaimResult> first = new FutureTask<>(() -> contended.claim(request("a", LEASE, RETENTION)));
		new Thread(first).start();
		Awaitility.await().atMost(PATIENCE).until(() -> reads.get() == 1);
		FutureTask<ClaimResult> second = new FutureTask<>(() -> contended.claim(request("a", LEASE, RETENTION)));
		Thread waiting = new Thread(second);
		waiting.start();
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> waiting.getState() == Thread.State.BLOCKED || !waiting.isAlive() || reads.get() > 1);
		assertThat(reads).hasValue(1);
		mayGoOn.countDown();
		assertThat(first.get()).isInstanceOf(Acquired.class);
		assertThat(second.get()).isInstanceOf(InProgress.class);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
