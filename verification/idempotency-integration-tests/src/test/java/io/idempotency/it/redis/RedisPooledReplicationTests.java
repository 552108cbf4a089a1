package io.idempotency.it.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.Requests;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * {@code wait-replicas} where the connections of an application come from a pool.
 */
@Requires(Backend.REDIS)
class RedisPooledReplicationTests {

	private final RedisServer master = RedisServer.start(RedisBinary.REDIS_7_0);

	private final RedisServer replica = RedisServer.startReplica(this.master);

	@AfterEach
	void stop() {
		this.replica.close();
		this.master.close();
	}

	/**
	 * A server counts the replicas that have the last write of the connection that asks,
	 * and one that has not written gets all of them. A newer Jedis takes a connection
	 * from its pool for each command: here somebody else always takes the one that has
	 * just run a script.
	 */
	@Test
	void claimIsWaitedForOnTheConnectionThatWroteIt() {
		List<RedisConnection> taken = new ArrayList<>();
		JedisConnectionFactory pool = RedisClients.jedis(this.master);
		RedisConnectionFactory busy = mock(RedisConnectionFactory.class);
		given(busy.getConnection()).willAnswer((call) -> afterEachScript(pool.getConnection(), () -> {
			RedisConnection other = pool.getConnection();
			other.openPipeline();
			taken.add(other);
		}));
		try (RedisIdempotencyStore patient = new RedisIdempotencyStore(busy, "test:", 1, Duration.ofSeconds(30),
				RedisClients.PATIENT);
				RedisIdempotencyStore impatient = new RedisIdempotencyStore(busy, "test:", 1, Duration.ofMillis(300),
						RedisClients.PATIENT)) {
			Requests.acquire(patient, Requests.claim());
			this.replica.pause();
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> impatient.claim(Requests.claim()))
				.withMessage("Only 0 of 1 Redis replicas have 'claim' after 300 ms");
			this.replica.resume();
		}
		finally {
			taken.forEach(RedisConnection::closePipeline);
			taken.forEach(RedisConnection::close);
			pool.destroy();
		}
	}

	private static RedisConnection afterEachScript(RedisConnection connection, Runnable afterwards) {
		return (RedisConnection) Proxy.newProxyInstance(RedisConnection.class.getClassLoader(),
				new Class<?>[] { RedisConnection.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("scriptingCommands")) {
						return proxy;
					}
					try {
						Object result = method.invoke(connection, arguments);
						if (method.getName().startsWith("eval")) {
							afterwards.run();
						}
						return result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
