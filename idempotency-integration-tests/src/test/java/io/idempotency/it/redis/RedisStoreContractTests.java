package io.idempotency.it.redis;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.idempotency.test.IdempotencyStoreContract;
import io.idempotency.it.servers.ContainerServer;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisSentinelServers;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.RequiresDocker;
import io.idempotency.it.servers.RequiresRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;

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
	 * Most of its tests wait for the server's clock, so they wait together. There are two
	 * storms of threads at a time at most, so that no lease of the others runs out before
	 * its time.
	 *
	 * @param <S> the servers
	 */
	@Execution(ExecutionMode.CONCURRENT)
	@ResourceLock(providers = FewStormsAtATime.class)
	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class Contract<S extends AutoCloseable> extends IdempotencyStoreContract {

		private S servers;

		private RedisConnectionFactory one;

		private RedisConnectionFactory another;

		abstract S start();

		abstract RedisConnectionFactory connect(S servers);

		@BeforeAll
		void startServers() {
			this.servers = start();
			this.one = connect(this.servers);
			this.another = connect(this.servers);
			warmUp(store());
			warmUp(anotherStore());
		}

		/** What happens once must not take the time of a lease. */
		private static void warmUp(IdempotencyStore store) {
			IdempotencyKey key = IdempotencyKey.of("warm-up", Caller.GLOBAL, UUID.randomUUID().toString());
			ClaimRequest request = new ClaimRequest(key, ClaimId.random(), Fingerprint.NONE, ClaimType.LEASED,
					Duration.ofMinutes(1), Duration.ofMinutes(1), true);
			store.claim(request);
			store.renew(key, request.claimId(), request.lease());
			store.release(key, request.claimId());
		}

		@AfterAll
		void stopServers() throws Exception {
			((DisposableBean) this.one).destroy();
			((DisposableBean) this.another).destroy();
			this.servers.close();
		}

		@Override
		public IdempotencyStore store() {
			return new RedisIdempotencyStore(this.one);
		}

		@Override
		public IdempotencyStore anotherStore() {
			return new RedisIdempotencyStore(this.another);
		}

		@Override
		public void elapse(Duration duration) {
			long until = System.nanoTime() + duration.toNanos();
			long rest = duration.toNanos();
			while (rest > 0) {
				LockSupport.parkNanos(rest);
				rest = until - System.nanoTime();
			}
		}

		@Override
		public Duration tick() {
			return Duration.ofMillis(400);
		}

	}

	static final class FewStormsAtATime implements ResourceLocksProvider {

		@Override
		public Set<Lock> provideForMethod(List<Class<?>> enclosingInstanceTypes, Class<?> testClass,
				Method testMethod) {
			String name = testMethod.getName();
			boolean storm = name.contains("Storm") || name.contains("OneOfMany") || name.startsWith("nobodyRuns");
			return storm ? Set.of(new Lock("storm-" + Math.floorMod(testClass.hashCode(), 2))) : Set.of();
		}

	}

}
