package io.idempotency.store.sql;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;

import io.idempotency.store.Scheduler;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Purges the table of a SQL store at intervals: it deletes batch after batch until no
 * expired record is left. Any number of nodes may do so. After a batch, the cleanup
 * pauses for as long as the batch took, so that the database has time for calls.
 * <p>
 * A purge that fails is logged and retried after the next interval. The cleanup uses one
 * thread of the scheduler, and holds a connection only while it deletes a batch.
 *
 * @since 0.1.0
 */
public final class RecordCleanup implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RecordCleanup.class);

	/** How long {@link #close()} waits at most for a batch that is being deleted. */
	private static final long CLOSE_SECONDS = 5;

	private final IntUnaryOperator purge;

	private final Duration interval;

	private final int batchSize;

	private final Scheduler scheduler;

	private final boolean ownsScheduler;

	private final Executor thread;

	/** The thread that purges holds this permit, and {@link #close()} waits for it. */
	private final Semaphore turn = new Semaphore(1);

	private volatile boolean closed;

	private volatile Scheduler.Timer timer = () -> {
	};

	/**
	 * Creates the cleanup with a dedicated scheduler. It does nothing before its
	 * {@link #start()}.
	 * @param purge deletes at most the given number of expired records and returns how
	 * many it deleted, such as {@code store::purge}
	 * @param interval how long to wait between two purges, positive
	 * @param batchSize how many records to delete in one transaction, 1 to 10000
	 */
	public RecordCleanup(IntUnaryOperator purge, Duration interval, int batchSize) {
		this(purge, interval, batchSize, Scheduler.system(), true);
	}

	/**
	 * Creates the cleanup, which does nothing before its {@link #start()}.
	 * @param purge deletes at most the given number of expired records and returns how
	 * many it deleted, such as {@code store::purge}
	 * @param interval how long to wait between two purges, positive
	 * @param batchSize how many records to delete in one transaction, 1 to 10000
	 * @param scheduler provides time and threads; the cleanup does not close it
	 */
	public RecordCleanup(IntUnaryOperator purge, Duration interval, int batchSize, Scheduler scheduler) {
		this(purge, interval, batchSize, scheduler, false);
	}

	private RecordCleanup(IntUnaryOperator purge, Duration interval, int batchSize, Scheduler scheduler,
			boolean ownsScheduler) {
		if (interval.isZero() || interval.isNegative()) {
			throw new IllegalArgumentException("interval must be positive, not " + interval);
		}
		RecordOperations.requireBatchSize(batchSize);
		this.purge = purge;
		this.interval = interval;
		this.batchSize = batchSize;
		this.scheduler = scheduler;
		this.ownsScheduler = ownsScheduler;
		this.thread = scheduler.threads("cleanup", 1);
	}

	/**
	 * Starts the cleanup; to be called once. The first purge runs at a random time within
	 * the first interval, so that nodes that start together do not purge together.
	 */
	public void start() {
		long nanos = TimeUnit.NANOSECONDS.convert(this.interval);
		purgeAfter(Duration.ofNanos(ThreadLocalRandom.current().nextLong(nanos)));
	}

	private void purgeAfter(Duration delay) {
		this.timer = this.scheduler.schedule(this::handOver, delay);
		if (this.closed) {
			this.timer.cancel();
		}
	}

	private void handOver() {
		try {
			this.thread.execute(this::purge);
		}
		catch (Throwable noThread) {
			// A JVM that cannot start a thread throws an error. A scheduler that is
			// closed
			// sets no timer.
			purgeAfter(this.interval);
		}
	}

	private void purge() {
		if (this.closed || !this.turn.tryAcquire()) {
			return;
		}
		Duration rest = this.interval;
		try {
			long begin = this.scheduler.nanos();
			int purged = this.purge.applyAsInt(this.batchSize);
			// A batch that is not full need not be the last, because another node may
			// have deleted a part of it.
			if (purged > 0) {
				logger.debug("Purged {} idempotency records", purged);
				rest = Duration.ofNanos(this.scheduler.nanos() - begin);
			}
		}
		catch (Throwable ex) {
			// Errors too: a class may be missing once, or memory for a moment.
			logger.warn("[IDEM-211] Expired idempotency records could not be purged: the table grows until a later "
					+ "attempt succeeds. Calls are not affected. Check the exception below.", ex);
		}
		finally {
			this.turn.release();
			// Without another purge, the table would grow without limit.
			purgeAfter(rest);
		}
	}

	/**
	 * Stops the cleanup; waits at most 5 seconds for a batch that is being deleted.
	 */
	@Override
	public void close() {
		this.closed = true;
		this.timer.cancel();
		try {
			if (this.turn.tryAcquire(CLOSE_SECONDS, TimeUnit.SECONDS)) {
				this.turn.release();
			}
			else {
				logger.debug("A batch of the cleanup is still being deleted");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (this.ownsScheduler) {
			this.scheduler.close();
		}
	}

}
