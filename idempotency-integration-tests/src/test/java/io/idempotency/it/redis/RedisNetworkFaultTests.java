package io.idempotency.it.redis;

import io.idempotency.it.StoreAlone;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.RequiresRedis;
import io.idempotency.it.store.NetworkFaultContract;
import io.idempotency.it.store.StoreNode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Bad lines to Redis.
 */
@RequiresRedis
@StoreAlone
class RedisNetworkFaultTests {

	/** Sends what had no reply once more by itself when it is connected again. */
	@Nested
	class Lettuce extends Network {

		@Override
		RedisConnectionFactory clients(int port) {
			return RedisClients.lettuce(port);
		}

	}

	/** Fails, so that the engine sends it once more. */
	@Nested
	class Jedis extends Network {

		@Override
		RedisConnectionFactory clients(int port) {
			return RedisClients.jedis(port);
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class Network extends NetworkFaultContract {

		private RedisServer server;

		abstract RedisConnectionFactory clients(int port);

		@BeforeAll
		void start() {
			this.server = RedisServer.start(RedisBinary.REDIS_7_0);
		}

		@AfterAll
		void stop() {
			this.server.close();
		}

		@Override
		protected int serverPort() {
			return this.server.port();
		}

		@Override
		protected StoreNode<?> connect(int port) {
			return new Node(clients(port));
		}

		@Override
		protected long records() {
			return (Long) this.server.command("DBSIZE");
		}

	}

}
