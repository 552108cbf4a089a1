package io.idempotency.engine;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The wait itself. Its poll comes after an hour, so that only a wake-up can end it in
 * time.
 */
class ConflictWaiterTests {

	private static final long ONE_HOUR = Duration.ofHours(1).toMillis();

	private static final ClaimResult.InProgress BUSY = new ClaimResult.InProgress(Duration.ofHours(2));

	private static final ClaimResult DONE = new ClaimResult.ResultUnavailable();

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

	private Duplicate duplicate(ConflictWaiter waiter) {
		return new Duplicate(this.call, waiter, this.ticker);
	}

	@Test
	void claimsAgainAtOnceBecauseTheOwnerMayHaveEndedMeanwhile() {
		assertThat(duplicate(this.waiter).await(BUSY, () -> DONE)).isSameAs(DONE);
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
		ClaimResult result = duplicate(this.waiter).await(BUSY, () -> {
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
		ClaimResult result = duplicate(this.waiter).await(BUSY, () -> {
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
		assertThat(new Duplicate(impatient, this.waiter, this.ticker).await(BUSY, () -> BUSY)).isSameAs(BUSY);
	}

	@Test
	void nothingIsAskedAfterTheWaitTimeout() {
		ManualScheduler time = new ManualScheduler();
		ConflictWaiter punctual = new ConflictWaiter(1, time, ONE_HOUR);
		ClaimResult result = new Duplicate(this.call, punctual, time).await(BUSY, () -> {
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
	void pollComesByItself() {
		ConflictWaiter quick = new ConflictWaiter(1, this.ticker, 1);
		assertThat(duplicate(quick).await(BUSY, () -> (this.claims.incrementAndGet() == 3) ? DONE : BUSY))
			.isSameAs(DONE);
	}

	/** Two hundred duplicates must not ask two hundred times as often as one. */
	@Test
	void waitersOfOneKeyShareThePoll() throws Exception {
		SteppedTime time = new SteppedTime();
		ConflictWaiter many = new ConflictWaiter(20, time, 100);
		AtomicReference<ClaimResult> answer = new AtomicReference<>(BUSY);
		List<Future<ClaimResult>> waiting = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			waiting.add(this.threads.submit(() -> new Duplicate(this.call, many, time).await(BUSY, () -> {
				this.claims.incrementAndGet();
				return answer.get();
			})));
		}
		time.awaitWaits(20);
		assertThat(this.claims).as("each once, because the owner may have ended").hasValue(20);
		for (int i = 1; i <= 5; i++) {
			time.pass(Duration.ofMillis(500));
			time.awaitWaits(20);
			assertThat(this.claims).hasValue(20 + i);
		}
		answer.set(DONE);
		time.pass(Duration.ofMillis(500));
		for (Future<ClaimResult> one : waiting) {
			assertThat(one.get()).isSameAs(DONE);
		}
		assertThat(this.claims).as("the one who asked, and then all").hasValue(20 + 5 + 20);
		assertThat(many.waitedFor()).isZero();
	}

	@Test
	void waiterWhoseTurnItIsHandsItOnWhenItLeaves() throws Exception {
		SteppedTime time = new SteppedTime();
		ConflictWaiter two = new ConflictWaiter(2, time, 100);
		AtomicReference<Thread> leaving = new AtomicReference<>();
		Future<ClaimResult> first = this.threads.submit(() -> new Duplicate(this.call, two, time).await(BUSY, () -> {
			leaving.set(Thread.currentThread());
			return BUSY;
		}));
		time.awaitWaits(1);
		Future<ClaimResult> second = this.threads.submit(() -> new Duplicate(this.call, two, time).await(BUSY,
				() -> (this.claims.incrementAndGet() == 2) ? DONE : BUSY));
		time.awaitWaits(2);
		leaving.get().interrupt();
		assertThat(first.get()).isSameAs(BUSY);
		time.awaitTurns(2);
		time.passUntil(second::isDone);
		assertThat(second.get()).isSameAs(DONE);
	}

	@Test
	void waiterWhoseStoreFailsHandsTheTurnOn() throws Exception {
		SteppedTime time = new SteppedTime();
		ConflictWaiter two = new ConflictWaiter(2, time, 100);
		AtomicInteger own = new AtomicInteger();
		Future<ClaimResult> first = this.threads.submit(() -> new Duplicate(this.call, two, time).await(BUSY, () -> {
			if (own.incrementAndGet() == 2) {
				throw new IdempotencyStoreException("down");
			}
			return BUSY;
		}));
		time.awaitWaits(1);
		Future<ClaimResult> second = this.threads.submit(() -> new Duplicate(this.call, two, time).await(BUSY,
				() -> (this.claims.incrementAndGet() == 2) ? DONE : BUSY));
		time.awaitWaits(2);
		time.pass(Duration.ofMillis(500));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(first::get)
			.withCauseInstanceOf(IdempotencyStoreException.class);
		time.awaitTurns(2);
		time.passUntil(second::isDone);
		assertThat(second.get()).isSameAs(DONE);
	}

	@Test
	void waiterBeyondTheBoundIsRejectedAtOnceAndTheNextOneWaits() throws Exception {
		Future<ClaimResult> first = start(() -> (this.claims.get() == 2) ? DONE : BUSY);
		await().until(() -> this.claims.get() == 1);
		ClaimResult second = duplicate(this.waiter).await(BUSY, () -> {
			throw new IllegalStateException("Nothing is asked");
		});
		assertThat(second).isSameAs(BUSY);
		this.waiter.wakeUp(EngineFixture.KEY);
		assertThat(first.get()).isSameAs(DONE);
		assertThat(duplicate(this.waiter).await(BUSY, () -> DONE)).isSameAs(DONE);
	}

	@Test
	void placeAndBellAreGivenBackWhenTheStoreFails() {
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> duplicate(this.waiter).await(BUSY, () -> {
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
			ClaimResult result = duplicate(this.waiter).await(BUSY, () -> {
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
		assertThat(duplicate(this.waiter).await(BUSY, () -> BUSY)).isSameAs(BUSY);
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
		Future<ClaimResult> first = this.threads
			.submit(() -> new Duplicate(this.call, two, this.ticker).await(BUSY, claim));
		Future<ClaimResult> second = this.threads
			.submit(() -> new Duplicate(this.call, two, this.ticker).await(BUSY, claim));
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
		Future<ClaimResult> first = this.threads
			.submit(() -> new Duplicate(this.call, two, this.ticker).await(BUSY, () -> {
				leaving.set(Thread.currentThread());
				return BUSY;
			}));
		Future<ClaimResult> second = this.threads.submit(() -> new Duplicate(this.call, two, this.ticker).await(BUSY,
				() -> (this.claims.incrementAndGet() == 2) ? DONE : BUSY));
		await().until(() -> leaving.get() != null && this.claims.get() == 1);
		leaving.get().interrupt();
		assertThat(first.get()).isSameAs(BUSY);
		assertThat(two.waitedFor()).isOne();
		two.wakeUp(EngineFixture.KEY);
		assertThat(second.get()).isSameAs(DONE);
	}

	private Future<ClaimResult> start(Supplier<ClaimResult> claim) {
		return this.threads.submit(() -> duplicate(this.waiter).await(BUSY, () -> {
			this.claims.incrementAndGet();
			return claim.get();
		}));
	}

	/** Time that passes when a test says so, also for threads that wait for it. */
	private static final class SteppedTime implements Scheduler {

		private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1);

		private final AtomicInteger waits = new AtomicInteger();

		private final AtomicInteger turns = new AtomicInteger();

		private int passed;

		private @Nullable Lock lock;

		private @Nullable Condition ticks;

		@Override
		public long nanos() {
			return this.now.get();
		}

		@Override
		public double random() {
			return 0.5;
		}

		@Override
		public Condition condition(Lock monitor) {
			Condition real = monitor.newCondition();
			this.lock = monitor;
			this.ticks = real;
			return (Condition) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Condition.class },
					(proxy, method, arguments) -> method.getName().equals("awaitNanos")
							? await(real, (Long) arguments[0]) : method.invoke(real, arguments));
		}

		private long await(Condition real, long nanos) throws InterruptedException {
			if (nanos <= Duration.ofSeconds(1).toNanos()) {
				this.turns.incrementAndGet();
			}
			int before = this.passed;
			this.waits.incrementAndGet();
			try {
				real.await();
				return 0;
			}
			finally {
				if (this.passed == before) {
					this.waits.decrementAndGet();
				}
			}
		}

		void awaitWaits(int number) {
			Awaitility.await().until(() -> this.waits.get() == number);
		}

		/** So many waits were short, because it was the waiter's turn to ask next. */
		void awaitTurns(int number) {
			Awaitility.await().until(() -> this.turns.get() == number);
		}

		/** All who wait look at the time; whoever goes on waiting is counted anew. */
		void pass(Duration duration) {
			Lock held = Objects.requireNonNull(this.lock);
			held.lock();
			try {
				this.now.addAndGet(duration.toNanos());
				this.passed++;
				this.waits.set(0);
				Objects.requireNonNull(this.ticks).signalAll();
			}
			finally {
				held.unlock();
			}
		}

		void passUntil(BooleanSupplier over) {
			Awaitility.await().until(() -> {
				pass(Duration.ofMillis(500));
				return over.getAsBoolean();
			});
		}

		@Override
		public Timer schedule(Runnable task, Duration delay) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Executor threads(String name, int most) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void close() {
			// Nothing runs here.
		}

	}

}
