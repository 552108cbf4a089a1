package io.idempotency.store.jdbc;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Purges a {@link JdbcIdempotencyStore} from time to time, batch after batch until
 * nothing is left that is over. Any number of nodes may do so. After a batch it rests for
 * as long as the batch took, so that the database has time for calls.
 * <p>
 * A purge that fails is logged and tried again after the next interval. There is one
 * daemon thread, which holds a connection only while it deletes a batch.
 *
 * @since 0.1.0
 */
public final class JdbcCleanup implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(JdbcCleanup.class);

	private final JdbcIdempotencyStore store;

	private final long intervalNanos;

	private final int batchSize;

	private final ScheduledExecutorService executor;

	private final CountDownLatch closed = new CountDownLatch(1);

	/**
	 * Creates the clean-up, which does nothing before its {@link #start()}.
	 * @param store the store
	 * @param interval how long to wait between two purges, positive
	 * @param batchSize how many records to delete in one transaction, 1 to 10000
	 */
	public JdbcCleanup(JdbcIdempotencyStore store, Duration interval, int batchSize) {
		if (interval.isZero() || interval.isNegative()) {
			throw new IllegalArgumentException("interval must be positive, not " + interval);
		}
		JdbcIdempotencyStore.requireBatchSize(batchSize);
		this.store = store;
		this.intervalNanos = TimeUnit.NANOSECONDS.convert(interval);
		this.batchSize = batchSize;
		this.executor = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread thread = new Thread(task, "idempotency-cleanup");
			thread.setDaemon(true);
			return thread;
		});
	}

	/**
	 * Begins, the first time somewhere within the first interval, so that nodes that
	 * start together do not purge together. To be called once.
	 */
	public void start() {
		long delay = ThreadLocalRandom.current().nextLong(this.intervalNanos);
		this.executor.scheduleWithFixedDelay(this::purge, delay, this.intervalNanos, TimeUnit.NANOSECONDS);
	}

	private void purge() {
		try {
			long purged = purgeAll();
			if (purged > 0) {
				logger.debug("Purged {} idempotency records", purged);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (RuntimeException ex) {
			// Whatever it is: thrown from here it would be the end of all purges.
			logger.warn("Idempotency records that are over could not be purged; trying again later", ex);
		}
	}

	private long purgeAll() throws InterruptedException {
		long purged = 0;
		int last;
		long took;
		do {
			long start = System.nanoTime();
			// A batch that is not full is not the last: another node may have had a part.
			last = this.store.purge(this.batchSize);
			purged += last;
			took = System.nanoTime() - start;
		}
		while (last > 0 && !this.closed.await(took, TimeUnit.NANOSECONDS));
		return purged;
	}

	/**
	 * Ends the clean-up; a batch that is being deleted is finished.
	 */
	@Override
	public void close() {
		this.closed.countDown();
		this.executor.shutdown();
	}

}
