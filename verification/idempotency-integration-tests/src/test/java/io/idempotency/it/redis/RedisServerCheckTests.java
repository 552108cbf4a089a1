package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.function.Function;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.Requests;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisServerCommands;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * What is said about a server at start-up.
 */
@Requires(Backend.REDIS)
@ExtendWith(OutputCaptureExtension.class)
class RedisServerCheckTests {

	@ParameterizedTest
	@EnumSource
	void everySupportedServerPassesInSilence(RedisBinary binary, CapturedOutput output) {
		verify(binary);
		assertThat(output).doesNotContain("idempotency", "maxmemory");
	}

	@ParameterizedTest
	@ValueSource(strings = { "allkeys-lru", "volatile-ttl" })
	void evictionIsAWarning(String policy, CapturedOutput output) {
		verify(RedisBinary.REDIS_6_2, "--maxmemory", "100mb", "--maxmemory-policy", policy);
		assertThat(output).contains("WARN").contains("maxmemory-policy '" + policy + "'").contains("'noeviction'");
	}

	@Test
	void evictionWithoutABoundOnMemoryIsNone(CapturedOutput output) {
		verify(RedisBinary.REDIS_6_2, "--maxmemory", "0", "--maxmemory-policy", "allkeys-lru");
		assertThat(output).doesNotContain("maxmemory");
	}

	@ParameterizedTest
	@ValueSource(strings = { "5.0.14", "6.0.20", "2.8.24" })
	void serverThatIsTooOldIsAConfigurationErrorThatNamesTheCure(String version) {
		assertThatExceptionOfType(IdempotencyConfigurationException.class)
			.isThrownBy(() -> verify(serverThatSays("redis_version", version)))
			.withMessageContaining("Redis " + version)
			.withMessageContaining("6.2")
			.satisfies((ex) -> assertThat(ex.action()).contains("idempotency.store"));
	}

	@Test
	void oneOldNodeOfAClusterIsEnough() {
		assertThatExceptionOfType(IdempotencyConfigurationException.class)
			.isThrownBy(() -> verify(
					serverThatSays("10.0.0.1:7000.redis_version", "7.2.4", "10.0.0.2:7000.redis_version", "6.0.1")))
			.withMessageContaining("6.0.1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "6.2.0", "7.2.4", "8.1.1", "10.0", "255.255.255" })
	void newerServersPass(String version) {
		assertThatNoException().isThrownBy(() -> verify(serverThatSays("redis_version", version)));
	}

	@Test
	void serverThatDoesNotTellIsNoError() {
		assertThatNoException().isThrownBy(() -> verify(serverThatSays()));
		assertThatNoException().isThrownBy(() -> verify(serverThatSays("redis_version", "unknown")));
	}

	@Test
	void serverThatIsNotThereIsNoReasonNotToStart(CapturedOutput output) {
		RedisServer gone = RedisServer.start(RedisBinary.REDIS_7_0);
		gone.kill();
		LettuceConnectionFactory connections = RedisClients.impatientLettuce(gone.port());
		assertThatNoException().isThrownBy(() -> verify(connections));
		assertThat(output).contains("WARN")
			.contains("Redis is unavailable at startup")
			.contains("Until it recovers, guarded calls receive 503, or run unguarded if "
					+ "idempotency.on-store-failure is 'proceed'");
		connections.destroy();
	}

	/** Calls work, so the log must not say that they are rejected. */
	@Test
	void logsOnlyTheMissingCheckWhenTheUserMayNotReadInfo(CapturedOutput output) throws Exception {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0)) {
			server.command("ACL", "SETUSER", "shop", "on", ">secret", "~*", "+@all", "-info");
			RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("127.0.0.1", server.port());
			configuration.setUsername("shop");
			configuration.setPassword("secret");
			LettuceConnectionFactory lettuce = new LettuceConnectionFactory(configuration);
			lettuce.afterPropertiesSet();
			lettuce.start();
			JedisConnectionFactory jedis = new JedisConnectionFactory(configuration);
			jedis.afterPropertiesSet();
			jedis.start();
			for (RedisConnectionFactory connections : List.of(lettuce, jedis)) {
				verify(connections);
				try (RedisIdempotencyStore store = new RedisIdempotencyStore(connections)) {
					Requests.acquire(store, Requests.claim());
				}
			}
			lettuce.destroy();
			jedis.destroy();
		}
		assertThat(output).doesNotContain("503").contains("may not run INFO").contains("noeviction");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "wrong" })
	void passwordThatIsMissingOrWrongIsAConfigurationError(String password) throws Exception {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0)) {
			server.command("CONFIG", "SET", "requirepass", "right");
			RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("127.0.0.1", server.port());
			configuration.setPassword(password);
			LettuceConnectionFactory lettuce = new LettuceConnectionFactory(configuration);
			lettuce.afterPropertiesSet();
			lettuce.start();
			JedisConnectionFactory jedis = new JedisConnectionFactory(configuration);
			jedis.afterPropertiesSet();
			jedis.start();
			for (RedisConnectionFactory connections : List.of(lettuce, jedis)) {
				assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(() -> verify(connections))
					.withMessageStartingWith("Redis rejected the login of the application: ")
					.withMessageContaining(password.isEmpty() ? "NOAUTH" : "WRONGPASS")
					.satisfies((ex) -> assertThat(ex.action()).contains("spring.data.redis.password"));
			}
			lettuce.destroy();
			jedis.destroy();
		}
	}

	@Test
	void passwordThatNoNodeOfAClusterTakesIsAConfigurationError() {
		try (RedisClusterServers cluster = RedisClusterServers.start(RedisBinary.REDIS_7_0)) {
			LettuceConnectionFactory connections = RedisClients.lettuce(cluster);
			cluster.masters().forEach((master) -> master.command("CONFIG", "SET", "requirepass", "right"));
			assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(() -> verify(connections))
				.withMessageContaining("NOAUTH");
			connections.destroy();
		}
	}

	@Test
	void clientThatMayWaitLongerThanTheStoreIsAWarningThatNamesItsProperties(CapturedOutput output) {
		verify(RedisClients::jedis);
		assertThat(output).contains("WARN")
			.contains("Jedis can block a guarded call for longer than idempotency.store-timeout (2000 ms)")
			.contains("Set spring.data.redis.timeout and spring.data.redis.connect-timeout and "
					+ "spring.data.redis.jedis.pool.max-wait to at most 2000ms.");
	}

	@Test
	void onlyWhatIsLongerIsNamed(CapturedOutput output) {
		verify((server) -> RedisClients.jedis(server.port(), Duration.ZERO));
		assertThat(output).contains("Set spring.data.redis.timeout and spring.data.redis.jedis.pool.max-wait to");
	}

	@Test
	void clientThatIsSoonerThanTheStorePassesInSilence(CapturedOutput output) {
		verify((server) -> RedisClients.impatientJedis(server.port()));
		assertThat(output).doesNotContain("store-timeout");
	}

	@Test
	void lettuceIsBoundedByTheStoreAndPassesInSilence(CapturedOutput output) {
		verify((server) -> RedisClients.untunedLettuce(server.port()));
		assertThat(output).doesNotContain("store-timeout");
	}

	private static <F extends RedisConnectionFactory & DisposableBean> void verify(Function<RedisServer, F> client) {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0)) {
			F connections = client.apply(server);
			verify(connections);
			try {
				connections.destroy();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}
	}

	private static void verify(RedisBinary binary, String... options) {
		try (RedisServer server = RedisServer.start(binary, options)) {
			LettuceConnectionFactory connections = RedisClients.lettuce(server);
			verify(connections);
			connections.destroy();
		}
	}

	private static void verify(RedisConnectionFactory connections) {
		try (RedisIdempotencyStore store = new RedisIdempotencyStore(connections, "test:", Duration.ofSeconds(2))) {
			store.verify();
		}
	}

	private static RedisConnectionFactory serverThatSays(String... namesAndValues) {
		Properties info = new Properties();
		for (int i = 0; i < namesAndValues.length; i += 2) {
			info.setProperty(namesAndValues[i], namesAndValues[i + 1]);
		}
		RedisServerCommands commands = mock(RedisServerCommands.class);
		given(commands.info()).willReturn(info);
		RedisConnection connection = mock(RedisConnection.class);
		given(connection.serverCommands()).willReturn(commands);
		RedisConnectionFactory factory = mock(RedisConnectionFactory.class);
		given(factory.getConnection()).willReturn(connection);
		return factory;
	}

}
