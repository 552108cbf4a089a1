package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.StoreFailureMode;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisSentinelServers;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.store.Callers;
import io.idempotency.it.store.Runs;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to servers, and how often the guarded calls ran.
 */
@Requires(Backend.REDIS)
@StoreAlone
class RedisServerFaultTests {

	private final Runs runs = new Runs();

	@Test
	void serverThatStandsStillMakesNothingRunTwice() throws Exception {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);
				Node one = new Node(RedisClients.impatientLettuce(server.port()));
				Node two = new Node(RedisClients.impatientLettuce(server.port()))) {
			awaitConnected(one);
			awaitConnected(two);
			List<String> keys = new Callers(List.of(one, two), this.runs).callWhile(() -> {
				server.pause();
				await().pollDelay(Duration.ofSeconds(3)).until(() -> true);
				server.resume();
			});
			assertThat(one.count(IdempotencyEvent.STORE_UNAVAILABLE)).as("calls that were told so").isPositive();
			expectReplays(two, keys);
		}
	}

	@Test
	void durableServerThatIsKilledForgetsNothing() throws Exception {
		try (RedisServer server = RedisServer.startDurable(RedisBinary.REDIS_7_0);
				Node one = new Node(RedisClients.impatientLettuce(server.port()));
				Node two = new Node(RedisClients.impatientLettuce(server.port()))) {
			awaitConnected(one);
			awaitConnected(two);
			List<String> keys = new Callers(List.of(one, two), this.runs).callWhile(() -> {
				server.kill();
				server.restart();
			});
			expectReplays(two, keys);
		}
	}

	@Test
	void callThatRunsWhileItsDurableServerIsKilledKeepsItsClaim() {
		try (RedisServer server = RedisServer.startDurable(RedisBinary.REDIS_6_2);
				Node one = new Node(RedisClients.impatientLettuce(server.port()));
				Node two = new Node(RedisClients.impatientLettuce(server.port()))) {
			String key = freshKey();
			String result = one.executeUntilAnswered(key, () -> {
				server.kill();
				server.restart();
				expectInProgress(two, key);
				return this.runs.run(key);
			});
			assertThat(result).isEqualTo(key + " run 1");
			expectReplays(two, List.of(key));
		}
	}

	/**
	 * At most what the server keeps can be promised: written so in the store's Javadoc.
	 */
	@Test
	void serverThatLosesItsDataForgetsWhatWasDone() {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);
				Node node = new Node(RedisClients.impatientLettuce(server.port()))) {
			String key = freshKey();
			node.executeUntilAnswered(key, () -> this.runs.run(key));
			server.kill();
			server.restart();
			for (int i = 0; i < 2; i++) {
				assertThat(node.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 2");
			}
		}
	}

	@Test
	void callThatRunsWhileItsServerLosesItsDataIsKeptWhenItEnds() {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);
				Node one = new Node(RedisClients.impatientLettuce(server.port()));
				Node two = new Node(RedisClients.impatientLettuce(server.port()))) {
			String key = freshKey();
			String result = one.executeUntilAnswered(key, () -> {
				server.kill();
				server.restart();
				return this.runs.run(key);
			});
			assertThat(result).isEqualTo(key + " run 1");
			await().atMost(Duration.ofSeconds(60)).until(() -> one.count(IdempotencyEvent.EXECUTED) == 1);
			expectReplays(two, List.of(key));
			assertThat(this.runs.of(key)).isEqualTo(1);
		}
	}

	@Test
	void serverThatIsDownLetsNothingRun() {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);
				Node node = Node.impatient(RedisClients.impatientLettuce(server.port()), StoreFailureMode.REJECT)) {
			awaitConnected(node);
			server.kill();
			String key = freshKey();
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> node.execute(key, () -> this.runs.run(key)))
				.satisfies((ex) -> assertThat(ex.retryAfter()).isPositive());
			assertThat(this.runs.of(key)).isZero();
			server.restart();
			assertThat(node.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
		}
	}

	@Test
	void serverThatIsDownLetsOneUnguardedCallRunWhereThatIsWanted() {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);
				Node node = Node.impatient(RedisClients.impatientLettuce(server.port()), StoreFailureMode.PROCEED)) {
			awaitConnected(node);
			long before = node.count(IdempotencyEvent.UNGUARDED);
			server.kill();
			String key = freshKey();
			assertThat(node.execute(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
			assertThat(this.runs.of(key)).isEqualTo(1);
			assertThat(node.count(IdempotencyEvent.UNGUARDED)).isEqualTo(before + 1);
		}
	}

	@Test
	void callsGoOnAfterAFailOver() throws Exception {
		try (RedisSentinelServers set = RedisSentinelServers.startToFailOver(RedisBinary.REDIS_6_2);
				Node one = new Node(RedisClients.lettuce(set, Duration.ofSeconds(2)));
				Node two = new Node(RedisClients.lettuce(set, Duration.ofSeconds(2)))) {
			awaitConnected(one);
			awaitConnected(two);
			Runs after = new Runs();
			// What the replica did not have yet is forgotten: no promise for the keys of
			// that moment.
			new Callers(List.of(one, two), this.runs).callWhileStoreForgets(() -> {
				set.master().kill();
				set.awaitFailOver();
				String key = freshKey();
				assertThat(one.executeUntilAnswered(key, () -> after.run(key))).isEqualTo(key + " run 1");
				assertThat(two.executeUntilAnswered(key, () -> after.run(key))).isEqualTo(key + " run 1");
			});
			assertThat(after.all().values()).hasSize(1).allSatisfy((count) -> assertThat(count).hasValue(1));
		}
	}

	/** A node that has just lost its server, or a busy one, may not reach it at once. */
	private void expectInProgress(Node node, String key) {
		await().ignoreException(IdempotencyStoreUnavailableException.class)
			.untilAsserted(() -> assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> node.execute(key, () -> this.runs.run(key))));
	}

	private static void awaitConnected(Node node) {
		assertThat(node.executeUntilAnswered(freshKey(), () -> "connected")).isEqualTo("connected");
	}

	private void expectReplays(Node node, List<String> keys) {
		for (String key : keys) {
			assertThat(node.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
		}
	}

	private static String freshKey() {
		return UUID.randomUUID().toString();
	}

}
