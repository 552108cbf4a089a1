package io.idempotency.store.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Monitors whether the servers of a Redis evict keys: a call whose record is evicted runs
 * again, and no other sign of it is visible. The servers are queried by {@code INFO} at
 * intervals; their numbers cover all keys, not only records. A WARN is logged when keys
 * were evicted, at most once in an hour.
 * <p>
 * A failed query is logged at DEBUG and repeated after the next interval. The monitor
 * uses one thread of the scheduler, and a connection only during a query. Thread-safe.
 *
 * @since 0.1.0
 */
public final class RedisEvictionMonitor implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisEvictionMonitor.class);

	private static final Duration SILENCE = Duration.ofHours(1);

	private final RedisConnectionFactory connectionFactory;

	private final Duration interval;

	private final Scheduler scheduler;

	private final Executor thread;

	private final AtomicLong evicted = new AtomicLong();

	/** The last number of each server; accessed by the one thread only. */
	private final Map<String, Long> known = new HashMap<>();

	/** When the last warning was logged; accessed by the one thread only. */
	private @Nullable Long told;

	private volatile boolean closed;

	/**
	 * Creates the monitor, which does nothing before its {@link #start()}.
	 * @param connectionFactory provides connections to the servers
	 * @param interval how long to wait between two queries, positive
	 * @param scheduler provides time and thread; the monitor does not close it
	 */
	public RedisEvictionMonitor(RedisConnectionFactory connectionFactory, Duration interval, Scheduler scheduler) {
		if (interval.isZero() || interval.isNegative()) {
			throw new IllegalArgumentException("interval must be positive, not " + interval);
		}
		this.connectionFactory = connectionFactory;
		this.interval = interval;
		this.scheduler = scheduler;
		this.thread = scheduler.threads("evictions", 1);
	}

	/**
	 * Starts the monitor; to be called once. Earlier evictions are not counted.
	 */
	public void start() {
		lookAfter(Duration.ZERO);
	}

	/**
	 * Returns how many keys the servers were seen to evict.
	 * @return the number since the start of the watch, over all servers
	 */
	public long evictedKeys() {
		return this.evicted.get();
	}

	private void lookAfter(Duration delay) {
		if (!this.closed) {
			this.scheduler.schedule(this::handOver, delay);
		}
	}

	private void handOver() {
		try {
			this.thread.execute(this::look);
		}
		catch (RejectedExecutionException ex) {
			// No thread is available. A closed scheduler sets no timer.
			lookAfter(this.interval);
		}
	}

	private void look() {
		try {
			if (!this.closed) {
				count(RedisServerCheck.ask(this.connectionFactory));
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The number of evicted keys could not be read from Redis; the next check follows later", ex);
		}
		finally {
			lookAfter(this.interval);
		}
	}

	private void count(RedisServerCheck servers) {
		Map<String, Long> now = servers.evictedKeys();
		long more = 0;
		for (Map.Entry<String, Long> server : now.entrySet()) {
			// A new or restarted server has evicted no keys since the last query.
			more += Math.max(0, server.getValue() - this.known.getOrDefault(server.getKey(), Long.MAX_VALUE));
		}
		this.known.putAll(now);
		this.evicted.addAndGet(more);
		long at = this.scheduler.nanos();
		if (more > 0 && (this.told == null || at - this.told >= SILENCE.toNanos())) {
			this.told = at;
			logger.warn("[IDEM-205] Redis evicted {} keys because its memory is full and its maxmemory-policy is "
					+ "{}: duplicates of calls whose records are lost run again. Give Redis more memory and set "
					+ "maxmemory-policy to 'noeviction'.", more, servers.memoryPolicies());
		}
	}

	/**
	 * Stops the checks. A check that is in progress continues.
	 */
	@Override
	public void close() {
		this.closed = true;
	}

}
