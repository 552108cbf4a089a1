package io.idempotency.benchmarks;

import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

import java.time.Duration;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
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

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A store that is named by a URL, empty at first: {@code memory}, {@code jdbc:…} or
 * {@code redis://host:port}. Whatever the server keeps in our table or below our prefix
 * is deleted.
 */
final class BenchmarkStore implements AutoCloseable {

	private static final StoredResult RESULT = new StoredResult("text", new byte[500]);

	private final AtomicLong sequence = new AtomicLong();

	private final IdempotencyStore store;

	private final AutoCloseable connections;

	private BenchmarkStore(IdempotencyStore store, AutoCloseable connections) {
		this.store = store;
		this.connections = connections;
	}

	static BenchmarkStore open(String url) {
		if (url.equals("memory")) {
			return new BenchmarkStore(new MemoryIdempotencyStore(4L << 30), () -> {
			});
		}
		return url.startsWith("jdbc:") ? jdbc(url) : redis(URI.create(url));
	}

	private static BenchmarkStore jdbc(String url) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setMaximumPoolSize(10);
		HikariDataSource pool = new HikariDataSource(config);
		new JdbcTemplate(pool).execute("drop table if exists " + JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
		new JdbcSchema(pool, JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
		return new BenchmarkStore(new JdbcIdempotencyStore(pool), pool);
	}

	private static BenchmarkStore redis(URI url) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(url.getHost(), url.getPort());
		connections.afterPropertiesSet();
		connections.start();
		connections.getConnection().serverCommands().flushAll();
		return new BenchmarkStore(new RedisIdempotencyStore(connections), connections::destroy);
	}

	/** Fills it with finished records that are kept for a day. */
	void fill(long records) {
		LongStream.range(0, records).parallel().forEach((i) -> fresh());
	}

	/** Fills it with records that are over at once. */
	void fillExpired(long records) {
		LongStream.range(0, records).parallel().forEach((i) -> claim(ClaimType.ONCE, Duration.ofMillis(1)));
	}

	/** A call that runs: its claim and its completion. */
	boolean fresh() {
		Claim claim = claim(ClaimType.LEASED, Duration.ofDays(1));
		return this.store.complete(Completion.result(claim, Fingerprint.NONE, RESULT, Duration.ofDays(1)));
	}

	private Claim claim(ClaimType type, Duration retention) {
		IdempotencyKey key = IdempotencyKey.of("benchmark", Caller.GLOBAL,
				Long.toString(this.sequence.incrementAndGet()));
		ClaimResult result = this.store.claim(new ClaimRequest(key, ClaimId.random(), Fingerprint.NONE, type,
				Duration.ofSeconds(30), retention, true));
		return ((ClaimResult.Acquired) result).claim();
	}

	int purge(int batchSize) {
		return ((JdbcIdempotencyStore) this.store).purge(batchSize);
	}

	@Override
	public void close() throws Exception {
		this.connections.close();
	}

}
