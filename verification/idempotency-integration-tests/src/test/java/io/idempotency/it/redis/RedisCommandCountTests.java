package io.idempotency.it.redis;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.redis.ReactiveRedisIdempotencyStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a guarded call costs in commands, as the server counts them: one round trip for
 * each verb ({@code evalsha}), and what the scripts do inside.
 */
@Requires(Backend.REDIS)
@TestInstance(Lifecycle.PER_CLASS)
class RedisCommandCountTests {

	private RedisServer server;

	private Node node;

	@BeforeAll
	void start() {
		this.server = RedisServer.start(RedisBinary.REDIS_7_0);
		this.node = new Node(RedisClients.lettuce(this.server));
		// Connects, and makes the server know the scripts.
		this.node.execute("warm-up", () -> "done");
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.node.execute("released", () -> {
			throw new IllegalStateException();
		}));
	}

	@AfterAll
	void stop() {
		this.node.close();
		this.server.close();
	}

	@Test
	void freshCallTakesTwoRoundTrips() {
		assertThat(commandsOf(() -> this.node.execute(freshKey(), () -> "done")))
			.isEqualTo(commands(2, "time", 2, "get", 2, "set", 2));
	}

	@Test
	void replayTakesOneRoundTrip() {
		String key = done();
		assertThat(commandsOf(() -> assertThat(this.node.execute(key, () -> "again")).isEqualTo("done")))
			.isEqualTo(commands(1, "time", 1, "get", 1));
	}

	/** No script, and not the time. */
	@Test
	void lookTakesOnePlainCommand() {
		ClaimRequest request = Requests.claim();
		assertThat(commandsOf(() -> assertThat(look(this.node.store(), request)).isEmpty()))
			.isEqualTo(Map.of("get", 1L));
		Claim claim = Requests.acquire(this.node.store(), request);
		assertThat(commandsOf(() -> assertThat(look(this.node.store(), request)).isEmpty()))
			.isEqualTo(Map.of("get", 1L));
		this.node.store().complete(Requests.result(claim));
		assertThat(commandsOf(() -> assertThat(look(this.node.store(), request)).isPresent()))
			.isEqualTo(Map.of("get", 1L));
	}

	/** A replica may still have what was removed from its master. */
	@Test
	void lookAsksTheMasterWhereTheApplicationReadsFromReplicas() {
		try (RedisServer replica = RedisServer.startReplica(this.server);
				Node reader = new Node(RedisClients.lettuce(this.server, replica))) {
			ClaimRequest request = Requests.claim();
			reader.store().complete(Requests.result(Requests.acquire(reader.store(), request)));
			replica.command("CONFIG", "RESETSTAT");
			assertThat(commandsOf(() -> assertThat(look(reader.store(), request)).isPresent())).containsEntry("get",
					1L);
			assertThat(replica.info("commandstats").stringPropertyNames()).doesNotContain("cmdstat_get");
		}
	}

	/** As one that traces or routes does: nobody knows whom the client behind it asks. */
	@Test
	void lookAsksNoReplicaBehindAFactoryThatDelegates() {
		try (RedisServer replica = RedisServer.startReplica(this.server);
				Node reader = new Node(delegating(RedisClients.lettuce(this.server, replica)))) {
			ClaimRequest request = Requests.claim();
			reader.store().complete(Requests.result(Requests.acquire(reader.store(), request)));
			replica.command("CONFIG", "RESETSTAT");
			assertThat(look(reader.store(), request)).isEmpty();
			assertThat(replica.info("commandstats").stringPropertyNames()).doesNotContain("cmdstat_get");
			assertThat(ReactiveRedisIdempotencyStore.of(reader.store())).isEmpty();
		}
	}

	/** Jedis reads from masters alone. */
	@Test
	void lookFindsBehindAFactoryThatDelegatesToJedis() {
		try (Node reader = new Node(delegating(RedisClients.jedis(this.server)))) {
			ClaimRequest request = Requests.claim();
			reader.store().complete(Requests.result(Requests.acquire(reader.store(), request)));
			assertThat(look(reader.store(), request)).isPresent();
		}
	}

	private static RedisConnectionFactory delegating(RedisConnectionFactory factory) {
		return (RedisConnectionFactory) Proxy.newProxyInstance(RedisConnectionFactory.class.getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class, DisposableBean.class },
				(proxy, method, arguments) -> method.invoke(factory, arguments));
	}

	private static Optional<ClaimResult.Completed> look(IdempotencyStore store, ClaimRequest request) {
		return store.find(request.key(), request.fingerprint());
	}

	@Test
	void duplicateInFlightTakesOneRoundTrip() {
		AtomicReference<Map<String, Long>> counted = new AtomicReference<>();
		String key = freshKey();
		this.node.execute(key, () -> {
			counted.set(commandsOf(() -> assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.node.execute(key, () -> "again"))));
			return "done";
		});
		assertThat(counted.get()).isEqualTo(commands(1, "time", 1, "get", 1));
	}

	@Test
	void keyReusedTakesOneRoundTrip() {
		String key = freshKey();
		this.node.call(key).fingerprint("one").execute(String.class, () -> "done");
		assertThat(commandsOf(() -> assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> this.node.call(key).fingerprint("two").execute(String.class, () -> "again"))))
			.isEqualTo(commands(1, "time", 1, "get", 1));
	}

	@Test
	void rejectTakesOneRoundTripFreshOrNot() {
		String key = freshKey();
		assertThat(commandsOf(() -> this.node.call(key).mode(IdempotencyMode.REJECT).run(() -> {
		}))).isEqualTo(commands(1, "time", 1, "getrange", 1, "set", 1));
		assertThat(commandsOf(() -> assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> this.node.call(key).mode(IdempotencyMode.REJECT).run(() -> {
			})))).isEqualTo(commands(1, "time", 1, "getrange", 1, "set", 1));
	}

	@Test
	void failedCallTakesTwoRoundTrips() {
		assertThat(commandsOf(() -> assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.node.execute(freshKey(), () -> {
				throw new IllegalStateException();
			})))).isEqualTo(commands(2, "time", 2, "get", 1, "getrange", 1, "set", 1, "del", 1));
	}

	@Test
	void lockTakesTwoRoundTripsAndLeavesNothing() {
		assertThat(commandsOf(
				() -> this.node.call(freshKey()).mode(IdempotencyMode.LOCK).execute(String.class, () -> "done")))
			.isEqualTo(commands(2, "time", 2, "get", 2, "set", 1, "del", 1));
	}

	@Test
	void unknownScriptIsSentOnce() {
		this.server.command("SCRIPT", "FLUSH");
		// EVALSHA is rejected and EVAL follows, for claim and complete; then the server
		// knows both again.
		assertThat(commandsOf(() -> this.node.execute(freshKey(), () -> "done"))).containsEntry("evalsha", 2L)
			.containsEntry("eval", 2L);
		assertThat(commandsOf(() -> this.node.execute(freshKey(), () -> "done"))).doesNotContainKey("eval");
	}

	private String done() {
		String key = freshKey();
		this.node.execute(key, () -> "done");
		return key;
	}

	private static String freshKey() {
		return UUID.randomUUID().toString();
	}

	private static Map<String, Long> commands(long roundTrips, Object... inside) {
		Map<String, Long> commands = new TreeMap<>(Map.of("evalsha", roundTrips));
		for (int i = 0; i < inside.length; i += 2) {
			commands.put((String) inside[i], ((Integer) inside[i + 1]).longValue());
		}
		return commands;
	}

	/** Every command that the server was asked for, by whomever. */
	private Map<String, Long> commandsOf(Runnable call) {
		return commandsOf(this.server, call);
	}

	static Map<String, Long> commandsOf(RedisServer server, Runnable call) {
		server.command("CONFIG", "RESETSTAT");
		call.run();
		Properties stats = server.info("commandstats");
		Map<String, Long> commands = new TreeMap<>();
		stats.stringPropertyNames()
			.stream()
			.filter((name) -> !name.startsWith("cmdstat_config") && !name.equals("cmdstat_info"))
			.forEach((name) -> {
				String calls = stats.getProperty(name).replaceFirst("calls=(\\d+),.*", "$1");
				commands.put(name.substring("cmdstat_".length()), Long.valueOf(calls));
			});
		return commands;
	}

}
