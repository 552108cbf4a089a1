package io.idempotency.it.redis;

import java.time.Duration;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.store.Scheduler;
import io.idempotency.store.redis.RedisEvictionMonitor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Keys that a server evicts while the application runs. */
@Requires(Backend.REDIS)
@ExtendWith(OutputCaptureExtension.class)
class RedisEvictionMonitorTests {

	private static final Duration INTERVAL = Duration.ofMillis(20);

	private static void fill(RedisServer server, int keys) {
		for (int i = 0; i < keys; i++) {
			server.command("SET", "key-" + System.nanoTime(), "x".repeat(20_000), "EX", "3600");
		}
	}

	@Test
	void evictionsAreCountedAndToldOnce(CapturedOutput output) {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0, "--maxmemory", "4mb", "--maxmemory-policy",
				"volatile-lru"); Scheduler scheduler = Scheduler.system()) {
			fill(server, 300);
			LettuceConnectionFactory connections = RedisClients.lettuce(server);
			try (RedisEvictionMonitor evictions = new RedisEvictionMonitor(connections, INTERVAL, scheduler)) {
				evictions.start();
				Awaitility.await().until(() -> {
					fill(server, 10);
					return evictions.evictedKeys() > 0;
				});
				Awaitility.await().untilAsserted(() -> assertThat(output).contains("Redis evicted"));
				long before = evictions.evictedKeys();
				Awaitility.await().until(() -> {
					fill(server, 10);
					return evictions.evictedKeys() > before;
				});
				assertThat(before).isLessThan(evictedBy(server));
			}
			connections.destroy();
			assertThat(output).containsOnlyOnce("Redis evicted").contains("WARN").contains("[volatile-lru]");
		}
	}

	/**
	 * A replica evicts nothing by itself, and does not tell what its master has evicted.
	 */
	@Test
	void masterIsAskedWhereTheApplicationReadsFromReplicas() {
		try (RedisServer master = RedisServer.start(RedisBinary.REDIS_7_0, "--maxmemory", "4mb", "--maxmemory-policy",
				"volatile-lru");
				RedisServer replica = RedisServer.startReplica(master);
				Scheduler scheduler = Scheduler.system()) {
			LettuceConnectionFactory connections = RedisClients.lettuce(master, replica);
			try (RedisEvictionMonitor evictions = new RedisEvictionMonitor(connections, INTERVAL, scheduler)) {
				evictions.start();
				Awaitility.await().until(() -> {
					fill(master, 20);
					return evictions.evictedKeys() > 0;
				});
			}
			connections.destroy();
		}
	}

	private static long evictedBy(RedisServer server) {
		return Long.parseLong(server.info("stats").getProperty("evicted_keys").trim());
	}

	@Test
	void serverThatIsAwayIsAskedAgain(CapturedOutput output) {
		RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0, "--maxmemory", "4mb", "--maxmemory-policy",
				"allkeys-lru");
		try (server; Scheduler scheduler = Scheduler.system()) {
			server.kill();
			LettuceConnectionFactory connections = RedisClients.impatientLettuce(server.port());
			try (RedisEvictionMonitor evictions = new RedisEvictionMonitor(connections, INTERVAL, scheduler)) {
				evictions.start();
				server.restart();
				Awaitility.await().until(() -> {
					fill(server, 20);
					return evictions.evictedKeys() > 0;
				});
			}
			connections.destroy();
			assertThat(output).contains("[allkeys-lru]");
		}
	}

}
