package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.engine.IdempotencyEvent;
import io.idempotency.it.servers.FreePorts;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.RequiresRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.netcrusher.core.reactor.NioReactor;
import org.netcrusher.tcp.TcpCrusher;
import org.netcrusher.tcp.TcpCrusherBuilder;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * What happens between client and server, and how often the guarded calls ran: replies
 * that are lost after the write was applied, connections that are dropped between the
 * verbs.
 */
@RequiresRedis
class RedisNetworkFaultTests {

	/** Sends what had no reply once more by itself when it is connected again. */
	@Nested
	class Lettuce extends Network {

		@Override
		RedisConnectionFactory connect(int port) {
			return RedisClients.lettuce(port);
		}

	}

	/** Fails, so that the engine sends it once more. */
	@Nested
	class Jedis extends Network {

		@Override
		RedisConnectionFactory connect(int port) {
			return RedisClients.jedis(port);
		}

	}

	/** One node behind a bad line, another on a good one. */
	abstract static class Network {

		private final Runs runs = new Runs();

		private RedisServer server;

		private NioReactor reactor;

		private TcpCrusher line;

		private volatile boolean repliesAreLost;

		private Node node;

		private Node other;

		abstract RedisConnectionFactory connect(int port);

		@BeforeEach
		void start() throws Exception {
			this.server = RedisServer.start(RedisBinary.REDIS_7_0);
			this.reactor = new NioReactor();
			int port = FreePorts.next();
			this.line = TcpCrusherBuilder.builder()
				.withReactor(this.reactor)
				.withBindAddress("127.0.0.1", port)
				.withConnectAddress("127.0.0.1", this.server.port())
				.withIncomingTransformFilterFactory((address) -> (buffer) -> {
					if (this.repliesAreLost) {
						buffer.position(buffer.limit());
					}
				})
				.buildAndOpen();
			this.node = new Node(connect(port));
			this.other = new Node(RedisClients.lettuce(this.server));
			// Connects, and makes the server know the scripts.
			this.node.execute("warm-up", () -> "done");
			assertThatIllegalStateException().isThrownBy(() -> this.node.execute("failed", () -> {
				throw new IllegalStateException();
			}));
		}

		@AfterEach
		void stop() throws Exception {
			this.node.close();
			this.other.close();
			this.line.close();
			this.reactor.close();
			this.server.close();
		}

		@Test
		void lostReplyOfAClaimDoesNotLockTheKey() throws Exception {
			for (int round = 0; round < 5; round++) {
				String key = freshKey();
				long records = records();
				this.repliesAreLost = true;
				CompletableFuture<String> call = CompletableFuture
					.supplyAsync(() -> this.node.executeUntilAnswered(key, () -> this.runs.run(key)));
				await().atMost(Duration.ofSeconds(60)).until(() -> records() == records + 1);
				assertThat(this.runs.of(key)).as("runs before the reply").isZero();
				reconnect();
				assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo(key + " run 1");
				expectReplayed(key);
			}
		}

		@Test
		void lostReplyOfACompletionDoesNotChangeTheResult() {
			for (int round = 0; round < 5; round++) {
				String key = freshKey();
				CompletableFuture<Void> repair = new CompletableFuture<>();
				String result = this.node.execute(key, () -> {
					this.repliesAreLost = true;
					// A completed record is one that a duplicate can replay.
					repair.completeAsync(() -> {
						await().atMost(Duration.ofSeconds(60))
							.ignoreException(IdempotencyInProgressException.class)
							.until(() -> this.other.execute(key, () -> "never") != null);
						reconnect();
						return null;
					});
					return this.runs.run(key);
				});
				assertThat(result).isEqualTo(key + " run 1");
				assertThat(repair).succeedsWithin(Duration.ofSeconds(60));
				expectReplayed(key);
			}
			await().atMost(Duration.ofSeconds(60)).until(() -> this.node.count(IdempotencyEvent.EXECUTED) == 6);
			assertThat(this.node.count(IdempotencyEvent.CLAIM_LOST)).isZero();
		}

		@Test
		void releaseThatIsSentTwiceDoesNotReleaseTheNextClaim() throws Exception {
			String key = freshKey();
			CountDownLatch running = new CountDownLatch(1);
			CountDownLatch mayEnd = new CountDownLatch(1);
			CompletableFuture<String> next = new CompletableFuture<>();
			assertThatIllegalStateException().isThrownBy(() -> this.node.execute(key, () -> {
				this.repliesAreLost = true;
				next.completeAsync(() -> this.other.executeUntilAnswered(key, () -> {
					running.countDown();
					reconnect();
					awaitUninterruptibly(mayEnd);
					return this.runs.run(key);
				}));
				throw new IllegalStateException("declined");
			}));
			assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
			// The release that had no reply was sent once more by now, or is in a moment.
			this.node.executeUntilAnswered(freshKey(), () -> "connected");
			await().pollDelay(Duration.ofMillis(500)).until(() -> true);
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.node.execute(key, () -> this.runs.run(key)));
			mayEnd.countDown();
			assertThat(next.get(60, TimeUnit.SECONDS)).isEqualTo(key + " run 1");
			expectReplayed(key);
		}

		@Test
		void connectionDroppedBetweenClaimAndCompletionChangesNothing() {
			for (int round = 0; round < 5; round++) {
				String key = freshKey();
				String result = this.node.execute(key, () -> {
					reconnect();
					return this.runs.run(key);
				});
				assertThat(result).isEqualTo(key + " run 1");
				expectReplayed(key);
			}
		}

		@Test
		void storeThatIsGoneAfterSuccessKeepsNobodyFromHisAnswer() {
			String key = freshKey();
			String result = this.node.execute(key, () -> {
				this.line.close();
				return this.runs.run(key);
			});
			assertThat(result).isEqualTo(key + " run 1");
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.other.execute(key, () -> this.runs.run(key)));
			this.line.open();
			expectReplayed(key);
			assertThat(this.node.count(IdempotencyEvent.STORE_RETRY)).isPositive();
		}

		private void reconnect() {
			this.repliesAreLost = false;
			this.line.reopen();
		}

		private void expectReplayed(String key) {
			for (Node any : List.of(this.other, this.node)) {
				assertThat(any.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
			}
			assertThat(this.runs.of(key)).as("runs").isEqualTo(1);
		}

		private long records() {
			return (Long) this.server.command("DBSIZE");
		}

		private static void awaitUninterruptibly(CountDownLatch latch) {
			await().atMost(Duration.ofSeconds(60)).until(() -> latch.getCount() == 0);
		}

		private static String freshKey() {
			return UUID.randomUUID().toString();
		}

	}

}
