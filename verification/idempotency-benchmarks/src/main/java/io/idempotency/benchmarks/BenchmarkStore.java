package io.idempotency.benchmarks;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoredResult;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.idempotency.store.sql.RecordCleanup;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A store that is named by a URL, empty at first: {@code memory}, {@code jdbc:…} or
 * {@code redis://host:port}. Whatever the server keeps in our table or below our prefix
 * is deleted.
 */
public final class BenchmarkStore implements AutoCloseable {

	private static final int CONNECTIONS = 10;

	private static final StoredResult TEXT = new StoredResult("text", new byte[500]);

	private static final Fingerprint FINGERPRINT = fingerprint();

	private final AtomicLong sequence = new AtomicLong();

	private final IdempotencyStore store;

	private final AutoCloseable connections;

	private final StoredResult result;

	private BenchmarkStore(IdempotencyStore store, StoredResult result, AutoCloseable connections) {
		this.store = store;
		this.result = result;
		this.connections = connections;
	}

	static BenchmarkStore open(String url) {
		return open(url, TEXT);
	}

	/**
	 * Opens one.
	 * @param url where it is
	 * @param result what its records hold
	 * @return the store, empty
	 */
	public static BenchmarkStore open(String url, StoredResult result) {
		if (url.equals("memory")) {
			return new BenchmarkStore(new MemoryIdempotencyStore(4L << 30), result, () -> {
			});
		}
		return url.startsWith("jdbc:") ? jdbc(url, result) : redis(URI.create(url), result);
	}

	private static BenchmarkStore jdbc(String url, StoredResult result) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setMaximumPoolSize(CONNECTIONS);
		HikariDataSource pool = new HikariDataSource(config);
		new JdbcTemplate(pool).execute("drop table if exists " + JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
		new JdbcSchema(pool, JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
		return new BenchmarkStore(new JdbcIdempotencyStore(pool), result, pool);
	}

	private static BenchmarkStore redis(URI url, StoredResult result) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(url.getHost(), url.getPort());
		connections.afterPropertiesSet();
		connections.start();
		connections.getConnection().serverCommands().flushAll();
		return new BenchmarkStore(new RedisIdempotencyStore(connections), result, connections::destroy);
	}

	/**
	 * Fills it with finished records that are kept for a day.
	 * @param records how many
	 */
	public void fill(long records) {
		inParallel(records, this::finished);
	}

	/** A finished call whose record shares no object with another one. */
	private void finished() {
		Fingerprint fingerprint = fingerprint();
		ClaimRequest request = ClaimRequest
			.of(key(this.sequence.incrementAndGet()), Duration.ofSeconds(30), Duration.ofDays(1))
			.withFingerprint(fingerprint);
		Claim claim = ((ClaimResult.Acquired) this.store.claim(request)).claim();
		StoredResult own = new StoredResult(this.result.format(), this.result.bytes().clone());
		this.store.complete(Completion.result(claim, fingerprint, own, Duration.ofDays(1)));
	}

	/** Fills it with records that are over at once. */
	void fillExpired(long records) {
		inParallel(records, () -> claim(ClaimType.ONCE, Duration.ofMillis(1)));
	}

	private static void inParallel(long times, Runnable task) {
		ExecutorService threads = Executors.newFixedThreadPool(CONNECTIONS);
		AtomicLong left = new AtomicLong(times);
		List<Future<?>> ends = IntStream.range(0, CONNECTIONS).<Future<?>>mapToObj((i) -> threads.submit(() -> {
			while (left.getAndDecrement() > 0) {
				task.run();
			}
		})).toList();
		threads.shutdown();
		for (Future<?> end : ends) {
			try {
				end.get();
			}
			catch (InterruptedException | ExecutionException ex) {
				throw new IllegalStateException("Cannot fill the store", ex);
			}
		}
	}

	/**
	 * A call that runs: its claim and its completion.
	 * @return whether the record is complete
	 */
	public boolean fresh() {
		Claim claim = claim(ClaimType.LEASED, Duration.ofDays(1));
		return this.store.complete(Completion.result(claim, FINGERPRINT, this.result, Duration.ofDays(1)));
	}

	/** A call that fails: its claim and its release. */
	boolean failed() {
		Claim claim = claim(ClaimType.LEASED, Duration.ofDays(1));
		return this.store.release(claim.key(), claim.id());
	}

	/** A duplicate of one of the first so many calls, of another each time. */
	ClaimResult duplicate(long records) {
		ClaimResult result = this.store.claim(
				request(key(ThreadLocalRandom.current().nextLong(records) + 1), ClaimType.LEASED, Duration.ofDays(1)));
		if (!(result instanceof ClaimResult.Completed)) {
			throw new IllegalStateException(result.toString());
		}
		return result;
	}

	private Claim claim(ClaimType type, Duration retention) {
		ClaimResult result = this.store.claim(request(key(this.sequence.incrementAndGet()), type, retention));
		return ((ClaimResult.Acquired) result).claim();
	}

	private static Fingerprint fingerprint() {
		return Fingerprint.of("benchmark").add("all alike").build();
	}

	private static IdempotencyKey key(long number) {
		return IdempotencyKey.of("benchmark", Caller.GLOBAL, Long.toString(number));
	}

	private static ClaimRequest request(IdempotencyKey key, ClaimType type, Duration retention) {
		return ClaimRequest.of(key, Duration.ofSeconds(30), retention).withFingerprint(FINGERPRINT).withType(type);
	}

	/** A clean-up that begins at once. */
	RecordCleanup newCleanup(int batchSize) {
		return new RecordCleanup(((JdbcIdempotencyStore) this.store)::purge, Duration.ofSeconds(1), batchSize);
	}

	long countExpired() {
		Long count = new JdbcTemplate((DataSource) this.connections).queryForObject(
				"select count(*) from " + JdbcIdempotencyStore.DEFAULT_TABLE_NAME + " where state = 'O'", Long.class);
		return (count != null) ? count : 0;
	}

	@Override
	public void close() throws Exception {
		this.connections.close();
	}

}
