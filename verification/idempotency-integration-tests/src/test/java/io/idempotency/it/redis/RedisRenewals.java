package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.Renewal;
import io.idempotency.store.redis.RedisIdempotencyStore;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** A store that has claims to renew. */
final class RedisRenewals implements AutoCloseable {

	static final Duration HOUR = Duration.ofHours(1);

	static final Duration DAY = Duration.ofDays(1);

	private final RedisConnectionFactory connections;

	private final RedisIdempotencyStore store;

	RedisRenewals(TestRedis redis) {
		this.connections = redis.connect();
		this.store = new RedisIdempotencyStore(this.connections, "test:", RedisClients.PATIENT);
	}

	RedisIdempotencyStore store() {
		return this.store;
	}

	/** With an hour to live, to be renewed for a day. */
	List<Renewal> claims(int count) {
		return Stream.generate(() -> {
			Claim claim = Requests.acquire(this.store, Requests.claim(Requests.key(), HOUR, HOUR));
			return new Renewal(claim.key(), claim.id(), DAY);
		}).limit(count).toList();
	}

	@Override
	public void close() throws Exception {
		this.store.close();
		((DisposableBean) this.connections).destroy();
	}

}
