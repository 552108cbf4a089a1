package io.idempotency.it.redis;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.idempotency.it.servers.ContainerServer;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisSentinelServers;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.RequiresDocker;
import io.idempotency.it.servers.RequiresRedis;
import io.idempotency.it.store.ServerClockContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The law of every store on every kind of Redis server, through both clients. Two stores
 * with a connection factory each stand for two nodes.
 */
@RequiresRedis
class RedisStoreContractTests {

	@Nested
	class LettuceRedis62 extends Contract<RedisServer> {

		@Override
		RedisServer start() {
			return RedisServer.start(RedisBinary.REDIS_6_2);
		}

		@Override
		RedisConnectionFactory connect(RedisServer servers) {
			return RedisClients.lettuce(servers);
		}

	}

	@Nested
	class LettuceRedis70 extends Contract<RedisServer> {

		@Override
		RedisServer start() {
			return RedisServer.start(RedisBinary.REDIS_7_0);
		}

		@Override
		RedisConnectionFactory connect(RedisServer servers) {
			return RedisClients.lettuce(servers);
		}

	}

	@Nested
	class LettuceRedis74 extends Contract<RedisServer> {

		@Override
		RedisServer start() {
			return RedisServer.start(RedisBinary.REDIS_7_4);
		}

		@Override
		RedisConnectionFactory connect(RedisServer servers) {
			return RedisClients.lettuce(servers);
		}

	}

	@Nested
	class JedisRedis62 extends Contract<RedisServer> {

		@Override
		RedisServer start() {
			return RedisServer.start(RedisBinary.REDIS_6_2);
		}

		@Override
		RedisConnectionFactory connect(RedisServer servers) {
			return RedisClients.jedis(servers);
		}

	}

	@Nested
	class JedisRedis70 extends Contract<RedisServer> {

		@Override
		RedisServer start() {
			return RedisServer.start(RedisBinary.REDIS_7_0);
		}

		@Override
		RedisConnectionFactory connect(RedisServer servers) {
			return RedisClients.jedis(servers);
		}

	}

	@Nested
	class LettuceCluster extends Contract<RedisClusterServers> {

		@Override
		RedisClusterServers start() {
			return RedisClusterServers.start(RedisBinary.REDIS_6_2);
		}

		@Override
		RedisConnectionFactory connect(RedisClusterServers servers) {
			return RedisClients.lettuce(servers);
		}

	}

	@Nested
	class JedisCluster extends Contract<RedisClusterServers> {

		@Override
		RedisClusterServers start() {
			return RedisClusterServers.start(RedisBinary.REDIS_7_0);
		}

		@Override
		RedisConnectionFactory connect(RedisClusterServers servers) {
			return RedisClients.jedis(servers);
		}

	}

	@Nested
	class LettuceSentinel extends Contract<RedisSentinelServers> {

		@Override
		RedisSentinelServers start() {
			return RedisSentinelServers.start(RedisBinary.REDIS_7_0);
		}

		@Override
		RedisConnectionFactory connect(RedisSentinelServers servers) {
			return RedisClients.lettuce(servers);
		}

	}

	@Nested
	class JedisSentinel extends Contract<RedisSentinelServers> {

		@Override
		RedisSentinelServers start() {
			return RedisSentinelServers.start(RedisBinary.REDIS_6_2);
		}

		@Override
		RedisConnectionFactory connect(RedisSentinelServers servers) {
			return RedisClients.jedis(servers);
		}

	}

	@Nested
	@RequiresDocker
	class LettuceValkey extends Contract<ContainerServer> {

		@Override
		ContainerServer start() {
			return ContainerServer.valkey();
		}

		@Override
		RedisConnectionFactory connect(ContainerServer server) {
			return RedisClients.lettuce(server.port());
		}

	}

	/**
	 * The contract on some servers.
	 *
	 * @param <S> the servers
	 */
	abstract static class Contract<S extends AutoCloseable> extends ServerClockContract {

		private S servers;

		private RedisConnectionFactory one;

		private RedisConnectionFactory another;

		private RedisIdempotencyStore store;

		private RedisIdempotencyStore anotherStore;

		abstract S start();

		abstract RedisConnectionFactory connect(S servers);

		@BeforeAll
		void startServers() {
			this.servers = start();
			this.one = connect(this.servers);
			this.another = connect(this.servers);
			this.store = store(this.one);
			this.anotherStore = store(this.another);
			warmUp();
		}

		/** The law is about what is answered, not how soon. */
		private static RedisIdempotencyStore store(RedisConnectionFactory connections) {
			return new RedisIdempotencyStore(connections, RedisIdempotencyStore.DEFAULT_KEY_PREFIX, 0,
					Duration.ofSeconds(1), RedisClients.PATIENT);
		}

		@AfterAll
		void stopServers() throws Exception {
			this.store.close();
			this.anotherStore.close();
			((DisposableBean) this.one).destroy();
			((DisposableBean) this.another).destroy();
			this.servers.close();
		}

		@Override
		public IdempotencyStore store() {
			return this.store;
		}

		@Override
		public IdempotencyStore anotherStore() {
			return this.anotherStore;
		}

	}

}
