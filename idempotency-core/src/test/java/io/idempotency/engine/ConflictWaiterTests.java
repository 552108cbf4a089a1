package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The wait itself. Its poll comes after an hour, so that only a wake-up can end it in
 * time.
 */
@Timeout(60)
class ConflictWaiterTests {

	private static final long ONE_HOUR = Duration.ofHours(1).toMillis();

	private static final ClaimResult.InProgress BUSY = new ClaimResult.InProgress(Duration.ofHours(2));

	private static final ClaimResult DONE = new ClaimResult.Tombstone();

	private final GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
			TestPolicy.replay().waiting(Duration.ofHours(2)).build(), new MemoryIdempotencyStore(1_000_000));

	private final MovableScheduler ticker = new MovableScheduler();

	private final ConflictWaiter waiter = new ConflictWaiter(1, this.ticker, ONE_HOUR);

	private final AtomicInteger claims = new AtomicInteger();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
	}

	@Test
	void claimsAgainAtOnceBecauseTheOwnerMayHaveEndedMeanwhile() {
		assertThat(this.waiter.await(this.call, BUSY, () -> DONE)).isSameAs(DONE);
		assertThat(this.waiter.waitedFor()).isZero();
	}

	@Test
	void wakeUpEndsTheWait() throws Exception {
		CountDownLatch ended = new CountDownLatch(1);
		Future<ClaimResult> waiting = start(() -> (ended.getCount() == 0) ? DONE : BUSY);
		await().until(() -> this.claims.get() == 1);
		ended.countDown();
		// The waiter may be on its way from the claim to its wait: both must be woken up.
		this.waiter.wakeUp(EngineFixture.KEY);
		assertThat(waiting.get()).isSameAs(DONE);
		assertThat(this.claims).hasValue(2);
		assertThat(this.waiter.waitedFor()).isZero();
	}

	@Test
	void wakeUpBetweenClaimAndWaitIsNotLost() {
		ClaimResult result = this.waiter.await(this.call, BUSY, () -> {
			if (this.claims.incrementAndGet() == 2) {
				return DONE;
			}
			this.waiter.wakeUp(EngineFixture.KEY);
			return BUSY;
		});
		assertThat(result).isSameAs(DONE);
		assertThat(this.claims).hasValue(2);
	}

	@Test
	void wakeUpOfAnotherKeyIsNone() throws Exception {
		Future<ClaimResult> waiting = start(() -> (this.claims.get() == 2) ? DONE : BUSY);
		await().until(() -> this.claims.get() == 1);
		this.waiter.wakeUp(IdempotencyKey.of("other", Caller.GLOBAL, "key-1"));
		assertThat(this.waiter.waitedFor()).isOne();
		assertThat(waiting.isDone()).isFalse();
		this.waiter.wakeUp(EngineFixture.KEY);
		assertThat(waiting.get()).isSameAs(DONE);
	}

	@Test
	void falseAlarmGoesOnWaiting() throws Exception {
		Future<ClaimResult> waiting = start(() -> (this.claims.get() == 3) ? DONE : BUSY);
		await().until(() -> this.claims.get() == 1);
		this.waiter.wakeUp(EngineFixture.KEY);
		await().until(() -> this.claims.get() == 2);
		this.waiter.wakeUp(EngineFixture.KEY);
		assertThat(waiting.get()).isSameAs(DONE);
	}

	@Test
	void waitEndsWithTheWaitTimeout() {
		ClaimResult.InProgress late = new ClaimResult.InProgress(Duration.ofSeconds(9));
		ClaimResult result = this.waiter.await(this.call, BUSY, () -> {
			this.ticker.advance(Duration.ofHours(2));
			return late;
		});
		assertThat(result).isSameAs(late);
		assertThat(this.waiter.waitedFor()).isZero();
	}

	@Test
	void waitEndsByItselfWithTheWaitTimeout() {
		GuardedCall impatient = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
				TestPolicy.replay().waiting(Duration.ofMillis(20)).build(), this.call.store());
		assertThat(this.waiter.await(impatient, BUSY, () -> BUSY)).isSameAs(BUSY);
	}

	@Test
	void nothingIsAskedAfterTheWaitTimeout() {
		ManualScheduler time = new ManualScheduler();
		ConflictWaiter punctual = new ConflictWaiter(1, time, ONE_HOUR);
		ClaimResult result = punctual.await(this.call, BUSY, () -> {
			this.claims.incrementAndGet();
			time.advance(Duration.ofHours(2));
			return BUSY;
		});
		assertThat(result).isSameAs(BUSY);
		assertThat(this.claims).hasValue(1);
	}

	@Test
	void waitNeverLastsLongerThanTheLease() throws Exception {
		Future<ClaimResult> waiting = start(
				() -> (this.claims.get() == 3) ? DONE : new ClaimResult.InProgress(Duration.ofMillis(5)));
		assertThat(waiting.get()).isSameAs(DONE);
	}

	@Test
	void waitOfALeaseThatIsNextToNothingGoesOn() throws Exception {
		Future<ClaimResult> waiting = start(
				() -> (this.claims.get() == 3) ? DONE : new ClaimResult.InProgress(Duration.ZERO));
		assertThat(waiting.get()).isSameAs(DONE);
	}

	@Test
	void pollThatFollowsALongOneComesSoonByItself() throws Exception {
		Future<ClaimResult> waiting = start(() -> (this.claims.get() == 3) ? DONE : BUSY);
		await().until(() -> this.claims.get() == 1);
		this.waiter.wakeUp(EngineFixture.KEY);
		assertThat(waiting.get()).isSameAs(DONE);
	}

	@Test
	void waiterBeyondTheBoundIsRejectedAtOnceAndTheNextOneWaits() throws Exception {
		Future<ClaimResult> first = start(() -> (this.claims.get() == 2) ? DONE : BUSY);
		await().until(() -> this.claims.get() == 1);
		ClaimResult second = this.waiter.await(this.call, BUSY, () -> {
			throw new IllegalStateException("Nothing is asked");
		});
		assertThat(second).isSameAs(BUSY);
		this.waiter.wakeUp(EngineFixture.KEY);
		assertThat(first.get()).isSameAs(DONE);
		assertThat(this.waiter.await(this.call, BUSY, () -> DONE)).isSameAs(DONE);
	}

	@Test
	void placeAndBellAreGivenBackWhenTheStoreFails() {
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> this.waiter.await(this.call, BUSY, () -> {
					throw new IdempotencyStoreException("down");
				}));
		}
		assertThat(this.waiter.waitedFor()).isZero();
	}

	@Test
	void interruptEndsTheWaitAndIsKept() throws Exception {
		CountDownLatch interrupted = new CountDownLatch(1);
		Thread[] thread = new Thread[1];
		Future<Boolean> waiting = this.threads.submit(() -> {
			thread[0] = Thread.currentThread();
			ClaimResult result = this.waiter.await(this.call, BUSY, () -> {
				interrupted.countDown();
				return BUSY;
			});
			assertThat(result).isSameAs(BUSY);
			return Thread.interrupted();
		});
		interrupted.await();
		await().until(() -> thread[0].getState() == Thread.State.TIMED_WAITING);
		thread[0].interrupt();
		assertThat(waiting.get()).isTrue();
		assertThat(this.waiter.waitedFor()).isZero();
	}

	@Test
	void interruptBeforeTheWaitEndsItAndIsKept() {
		Thread.currentThread().interrupt();
		assertThat(this.waiter.await(this.call, BUSY, () -> BUSY)).isSameAs(BUSY);
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void twoWaitersOfOneKeyShareABellUntilTheLastHasLeft() throws Exception {
		ConflictWaiter two = new ConflictWaiter(2, this.ticker, ONE_HOUR);
		CountDownLatch done = new CountDownLatch(1);
		Supplier<ClaimResult> claim = () -> {
			this.claims.incrementAndGet();
			return (done.getCount() == 0) ? DONE : BUSY;
		};
		Future<ClaimResult> first = this.threads.submit(() -> two.await(this.call, BUSY, claim));
		Future<ClaimResult> second = this.threads.submit(() -> two.await(this.call, BUSY, claim));
		await().until(() -> this.claims.get() == 2);
		assertThat(two.waitedFor()).isOne();
		done.countDown();
		two.wakeUp(EngineFixture.KEY);
		assertThat(first.get()).isSameAs(DONE);
		assertThat(second.get()).isSameAs(DONE);
		assertThat(two.waitedFor()).isZero();
	}

	@Test
	void waiterThatLeavesTakesNobodysBellAway() throws Exception {
		ConflictWaiter two = new ConflictWaiter(2, this.ticker, ONE_HOUR);
		AtomicReference<Thread> leaving = new AtomicReference<>();
		Future<ClaimResult> first = this.threads.submit(() -> two.await(this.call, BUSY, () -> {
			leaving.set(Thread.currentThread());
			return BUSY;
		}));
		Future<ClaimResult> second = this.threads
			.submit(() -> two.await(this.call, BUSY, () -> (this.claims.incrementAndGet() == 2) ? DONE : BUSY));
		await().until(() -> leaving.get() != null && this.claims.get() == 1);
		leaving.get().interrupt();
		assertThat(first.get()).isSameAs(BUSY);
		assertThat(two.waitedFor()).isOne();
		two.wakeUp(EngineFixture.KEY);
		assertThat(second.get()).isSameAs(DONE);
	}

	private Future<ClaimResult> start(Supplier<ClaimResult> claim) {
		return this.threads.submit(() -> this.waiter.await(this.call, BUSY, () -> {
			this.claims.incrementAndGet();
			return claim.get();
		}));
	}

}
