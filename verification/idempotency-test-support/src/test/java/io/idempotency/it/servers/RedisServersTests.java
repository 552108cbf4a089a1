package io.idempotency.it.servers;

import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.util.Objects;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of the launcher: what the fault tests rely on.
 */
@Requires(Backend.REDIS)
@StoreAlone
class RedisServersTests {

	@ParameterizedTest
	@EnumSource
	void everyBinaryIsTheVersionItClaimsToBe(RedisBinary binary) {
		try (RedisServer server = RedisServer.start(binary)) {
			assertThat(server.info("server")).containsEntry("redis_version", binary.version())
				.containsEntry("process_id", Long.toString(server.pid()));
		}
	}

	@Test
	void pausedServerIsSilentUntilItIsResumed() {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0)) {
			server.pause();
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> server.command("PING"))
				.withCauseInstanceOf(SocketTimeoutException.class);
			server.resume();
			assertThat(server.command("PING")).isEqualTo("PONG");
		}
	}

	@Test
	void killedServerComesBackOnItsPortWithNothing() {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0)) {
			server.command("SET", "key", "value");
			server.kill();
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> server.command("PING"));
			server.restart();
			assertThat(server.command("GET", "key")).isNull();
		}
	}

	@Test
	void killedDurableServerComesBackWithItsData() {
		try (RedisServer server = RedisServer.startDurable(RedisBinary.REDIS_6_2)) {
			server.command("SET", "key", "value");
			server.kill();
			server.restart();
			assertThat(server.command("GET", "key")).isEqualTo("value");
		}
	}

	/** As a sentinel does it: the clients of a server that is promoted are cut off. */
	@Test
	void promotionIsAwaitedThoughItClosesEveryConnection() throws Exception {
		try (RedisServer master = RedisServer.start(RedisBinary.REDIS_7_0);
				RedisServer replica = RedisServer.startReplica(master)) {
			FutureTask<Long> promotion = new FutureTask<>(() -> {
				long closed = 0;
				try (RespConnection sentinel = new RespConnection(replica.port())) {
					while (closed < 10) {
						closed += (Long) Objects
							.requireNonNull(sentinel.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"));
					}
					sentinel.command("REPLICAOF", "NO", "ONE");
				}
				return closed;
			});
			new Thread(promotion, "sentinel").start();
			replica.awaitMaster();
			assertThat(promotion.get()).isGreaterThanOrEqualTo(10);
			assertThat(replica.info("replication")).containsEntry("role", "master");
		}
	}

	@Test
	void serverDiesWithItsJvm() {
		DeadJvm.expectDeathOfServer(Main.class);
	}

	/** Starts a server, even pauses it, and never ends by itself. */
	static final class Main {

		private Main() {
		}

		public static void main(String[] args) throws Exception {
			RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);
			server.pause();
			System.out.println(server.pid());
			Thread.currentThread().join();
		}

	}

}
