package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The store of a running application stands still (SIGSTOP): its sockets accept and keep
 * silent. No time-outs of clients are set but those of the connection pool, which a
 * warning at the start asks for.
 */
@Requires({ Backend.REDIS, Backend.POSTGRESQL })
@Timeout(120)
class StandstillTests {

	/** More than a pool has connections. */
	private static final int REQUESTS = 24;

	/** Twice the time-out of the store, which nobody may wait for. */
	private static final Duration TOO_LONG = Duration.ofMillis(3900);

	/** Who waits as long has waited too long even if the machine itself stood still. */
	private static final Duration END = Duration.ofSeconds(20);

	@Test
	void redis() throws Exception {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_4);
				ConfigurableApplicationContext application = start(null, "idempotency.store=redis",
						"spring.data.redis.port=" + server.port())) {
			expectAnswersInTime(application, server::pause, server::resume);
		}
	}

	@Test
	void postgreSql() throws Exception {
		try (PostgreSqlServer server = PostgreSqlServer.start(PostgreSqlBinary.POSTGRESQL_16)) {
			DataSource pool = server.newDatabase().pool(10, (config) -> {
				config.setConnectionTimeout(2000);
				config.setValidationTimeout(1000);
			});
			try (ConfigurableApplicationContext application = start(pool, "idempotency.store=jdbc",
					"idempotency.jdbc.initialize-schema=always")) {
				expectAnswersInTime(application, server::pause, server::resume);
			}
		}
	}

	private static ConfigurableApplicationContext start(@Nullable DataSource pool, String... properties) {
		SpringApplication application = new SpringApplication(HttpApplication.class);
		if (pool != null) {
			application.addInitializers((context) -> ((GenericApplicationContext) context).registerBean("dataSource",
					DataSource.class, () -> pool));
		}
		return application
			.run(Stream.concat(Stream.of("server.port=0", "idempotency.store-timeout=2s"), Stream.of(properties))
				.map((property) -> "--" + property)
				.toArray(String[]::new));
	}

	private static void expectAnswersInTime(ConfigurableApplicationContext application, Runnable pause, Runnable resume)
			throws Exception {
		Client client = new Client(Integer.parseInt(application.getEnvironment().getProperty("local.server.port")));
		await().until(() -> pay(client).status() == 200);
		int before = application.getBean(Runs.class).of("/answers/number");
		ExecutorService clients = Executors.newFixedThreadPool(REQUESTS);
		try (Stalls stalls = new Stalls()) {
			pause.run();
			List<Future<Answer>> guarded = new ArrayList<>();
			for (int i = 0; i < REQUESTS; i++) {
				guarded.add(clients.submit(() -> stalls.inTime(() -> pay(client))));
			}
			assertThat(stalls.inTime(() -> client.send(client.to("/nowhere").timeout(END))).status()).isEqualTo(404);
			for (Future<Answer> answer : guarded) {
				assertThat(answer.get().status()).isEqualTo(503);
			}
			// Again: by now the pools know nothing better.
			assertThat(stalls.inTime(() -> pay(client)).status()).isEqualTo(503);
			assertThat(application.getBean(Runs.class).of("/answers/number")).isEqualTo(before);
		}
		finally {
			resume.run();
			clients.shutdownNow();
		}
		await().atMost(Duration.ofSeconds(60)).ignoreExceptions().until(() -> pay(client).status() == 200);
	}

	private static Answer pay(Client client) {
		return client.send(client.to("/answers/number")
			.timeout(END)
			.header("Idempotency-Key", UUID.randomUUID().toString())
			.POST(HttpRequest.BodyPublishers.noBody()));
	}

	/**
	 * Measures for how long the machine itself stood still: a thread that wants to wake
	 * up every few milliseconds wakes up later.
	 */
	private static final class Stalls implements AutoCloseable {

		private static final long BEAT = TimeUnit.MILLISECONDS.toNanos(10);

		private final Thread thread = new Thread(this::watch, "stalls");

		private volatile boolean over;

		private volatile long last = System.nanoTime();

		private volatile long stalled;

		Stalls() {
			this.thread.start();
		}

		private void watch() {
			while (!this.over) {
				LockSupport.parkNanos(BEAT);
				long now = System.nanoTime();
				this.stalled += Math.max(0, now - this.last - 2 * BEAT);
				this.last = now;
			}
		}

		/** Expects that a request is answered in time, stalls of the machine apart. */
		Answer inTime(Supplier<Answer> request) {
			long begin = System.nanoTime();
			long before = this.stalled;
			Answer answer = request.get();
			long end = System.nanoTime();
			await().until(() -> this.last - end > 0);
			assertThat(Duration.ofNanos(end - begin - (this.stalled - before))).isLessThan(TOO_LONG);
			return answer;
		}

		@Override
		public void close() {
			this.over = true;
		}

	}

}
