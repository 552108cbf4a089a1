package io.idempotency.it.shutdown;

import java.util.List;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import org.junit.jupiter.api.AfterEach;

/**
 * Outstanding completions of an application whose records are in Redis.
 */
@Requires(Backend.REDIS)
class RedisTerminationTests extends TerminationContract {

	private final RedisServer server = RedisServer.startDurable(RedisBinary.REDIS_7_0);

	@AfterEach
	void stop() {
		this.server.close();
	}

	@Override
	int storePort() {
		return this.server.port();
	}

	@Override
	List<String> properties(int port) {
		return List.of("idempotency.store=redis", "spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + port,
				"spring.data.redis.client-type=jedis", "spring.data.redis.timeout=1s",
				// As the store asks for at start: who waits for a connection of a pool
				// whose
				// server has gone may wait for ever.
				"spring.data.redis.jedis.pool.max-wait=1s", "spring.data.redis.repositories.enabled=false");
	}

}
