package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Scheduler;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When a duplicate that nobody wakes up asks the store again. Each wait takes as long as
 * it should, and no time of the machine.
 */
class PollTimesTests {

	private static final ClaimResult.InProgress BUSY = new ClaimResult.InProgress(Duration.ofHours(2));

	private static final ClaimResult DONE = new ClaimResult.ResultUnavailable();

	private final WaitedTime time = new WaitedTime();

	private final ConflictWaiter waiter = new ConflictWaiter(1, this.time);

	@Test
	void eachWaitIsTwiceAsLongUpToHalfASecond() {
		assertThat(waits(7, BUSY)).containsExactly(20L, 40L, 80L, 160L, 320L, 500L, 500L);
	}

	/** Duplicates that came together would otherwise ask together for ever. */
	@Test
	void waitIsAQuarterShorterOrLongerAtRandom() {
		this.time.random = 0;
		assertThat(waits(2, BUSY)).containsExactly(15L, 30L);
		this.time.random = 0.98;
		assertThat(waits(2, BUSY)).containsExactly(24L, 49L);
	}

	@Test
	void waitEndsWithTheLease() {
		assertThat(waits(4, new ClaimResult.InProgress(Duration.ofMillis(30)))).containsExactly(20L, 30L, 30L, 30L);
	}

	/** A store with a coarse clock says so again and again. */
	@Test
	void storeThatSaysThatNothingIsLeftIsAskedEachMillisecond() {
		assertThat(waits(3, new ClaimResult.InProgress(Duration.ZERO))).containsExactly(1L, 1L, 1L);
	}

	@Test
	void lastWaitEndsWithTheWaitTimeout() {
		GuardedCall impatient = call(Duration.ofMillis(100));
		assertThat(new Duplicate(impatient, this.waiter, this.time).await(BUSY, () -> BUSY)).isSameAs(BUSY);
		assertThat(this.time.waits).containsExactly(20L, 40L, 40L);
	}

	@Test
	void threadThatWakesUpWithoutACauseWaitsForTheRest() {
		this.time.wakesUpAfter = 5;
		assertThat(waits(1, BUSY)).containsExactly(20L, 15L);
	}

	/** An owner on this node has ended, and the next one may be quicker. */
	@Test
	void waitAfterAWakeUpIsShortAgain() {
		this.time.onWait = () -> {
			if (this.time.waits.size() == 3) {
				this.waiter.wakeUp(EngineFixture.KEY);
			}
		};
		assertThat(waits(5, BUSY)).containsExactly(20L, 40L, 80L, 20L, 40L);
	}

	@Test
	void duplicateThatWaitsIsCounted() {
		List<Integer> seen = new ArrayList<>();
		new Duplicate(call(Duration.ofMillis(20)), this.waiter, this.time).await(BUSY, () -> {
			seen.add(this.waiter.waiting());
			return BUSY;
		});
		assertThat(seen).containsExactly(1, 1);
		assertThat(this.waiter.waiting()).isZero();
	}

	/**
	 * Returns the milliseconds of some waits, each after the same answer of the store.
	 */
	private List<Long> waits(int waits, ClaimResult answer) {
		this.time.waits.clear();
		List<ClaimResult> answers = new ArrayList<>();
		new Duplicate(call(Duration.ofHours(2)), this.waiter, this.time).await(BUSY, () -> {
			answers.add(answer);
			return (answers.size() > waits) ? DONE : answer;
		});
		return this.time.waits;
	}

	private static GuardedCall call(Duration waitTimeout) {
		return new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, TestPolicy.replay().waiting(waitTimeout).build(),
				new MemoryIdempotencyStore(1_000_000));
	}

	/** A time that goes on while a thread waits, and only then. */
	private static final class WaitedTime implements Scheduler, Condition {

		private final List<Long> waits = new ArrayList<>();

		/** Near the end of what a long can count, because the origin is arbitrary. */
		private long now = Long.MAX_VALUE - 1;

		private double random = 0.5;

		private long wakesUpAfter;

		private Runnable onWait = () -> {
		};

		@Override
		public long nanos() {
			return this.now;
		}

		@Override
		public double random() {
			return this.random;
		}

		@Override
		public Condition condition(Lock lock) {
			return this;
		}

		@Override
		public long awaitNanos(long nanos) {
			this.waits.add(TimeUnit.NANOSECONDS.toMillis(nanos));
			long waited = (this.wakesUpAfter > 0) ? TimeUnit.MILLISECONDS.toNanos(this.wakesUpAfter) : nanos;
			this.wakesUpAfter = 0;
			this.now += waited;
			this.onWait.run();
			return nanos - waited;
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
		public void await() {
			throw new UnsupportedOperationException();
		}

		@Override
		public void awaitUninterruptibly() {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean await(long time, TimeUnit unit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean awaitUntil(Date deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void signal() {
			// Nobody else waits.
		}

		@Override
		public void signalAll() {
			// Nobody else waits.
		}

		@Override
		public void close() {
			this.waits.clear();
		}

	}

}
