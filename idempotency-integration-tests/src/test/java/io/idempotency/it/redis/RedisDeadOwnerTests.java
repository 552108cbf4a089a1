package io.idempotency.it.redis;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;

import io.idempotency.AbandonedMode;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.engine.IdempotencyEvent;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.RequiresRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The JVM of an owner is killed while its calls run: the only way to lose a claim.
 */
@RequiresRedis
class RedisDeadOwnerTests {

	private static final Duration LEASE = Duration.ofSeconds(2);

	private RedisServer server;

	private Node survivor;

	@BeforeEach
	void start() {
		this.server = RedisServer.start(RedisBinary.REDIS_7_0);
		this.survivor = new Node(RedisClients.lettuce(this.server));
	}

	@AfterEach
	void stop() {
		this.survivor.close();
		this.server.close();
	}

	@Test
	void callOfADeadOwnerIsTakenOverOnceOrRefused() throws Exception {
		String rerun = UUID.randomUUID().toString();
		String refuse = UUID.randomUUID().toString();
		Process owner = startOwner(rerun, refuse);
		try {
			// Longer than the lease: the owner lives, so its claims do.
			await().pollDelay(LEASE.plusSeconds(1)).until(() -> true);
			assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> execute(rerun));
			assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> execute(refuse));

			owner.destroyForcibly().waitFor();
			assertThat(this.survivor.executeUntilAnswered(rerun, () -> run(rerun))).isEqualTo("run 2");
			assertThat(execute(rerun)).isEqualTo("run 2");
			assertThat(runs(rerun)).as("runs: of the dead owner and of its successor").isEqualTo("2");
			assertThat(this.survivor.count(IdempotencyEvent.TAKEN_OVER)).isEqualTo(1);

			await().atMost(Duration.ofSeconds(60))
				.ignoreException(IdempotencyInProgressException.class)
				.untilAsserted(() -> assertThatExceptionOfType(IdempotencyOutcomeUnknownException.class)
					.isThrownBy(() -> this.survivor.call(refuse)
						.onAbandoned(AbandonedMode.REFUSE)
						.execute(String.class, () -> run(refuse))));
			assertThat(runs(refuse)).as("runs: of the dead owner alone").isEqualTo("1");
		}
		finally {
			owner.destroyForcibly();
		}
	}

	private String execute(String key) {
		return this.survivor.execute(key, () -> run(key));
	}

	private String run(String key) {
		return run(this.server.port(), key);
	}

	/** The effect is counted where it survives. */
	private static String run(int port, String key) {
		return "run " + RedisServer.command(port, "INCR", "runs:" + key);
	}

	private Object runs(String key) {
		return this.server.command("GET", "runs:" + key);
	}

	private Process startOwner(String... keys) throws Exception {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		Process owner = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Owner.class.getName(),
				Integer.toString(this.server.port()), String.join(",", keys))
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		BufferedReader output = new BufferedReader(
				new InputStreamReader(owner.getInputStream(), StandardCharsets.UTF_8));
		String line = output.readLine();
		while (line != null && !line.equals("running")) {
			line = output.readLine();
		}
		assertThat(line).as("the owner runs").isEqualTo("running");
		return owner;
	}

	/** Starts one call for each key, and none of them ends. */
	static final class Owner {

		private Owner() {
		}

		public static void main(String[] args) throws Exception {
			int port = Integer.parseInt(args[0]);
			List<String> keys = List.of(args[1].split(","));
			Node node = new Node(RedisClients.lettuce(port));
			CountDownLatch running = new CountDownLatch(keys.size());
			for (String key : keys) {
				new Thread(() -> node.call(key).lease(LEASE).execute(String.class, () -> {
					run(port, key);
					running.countDown();
					return await().forever().until(() -> "never", (value) -> false);
				})).start();
			}
			running.await();
			System.out.println("running");
			Thread.currentThread().join();
		}

	}

}
