package io.idempotency.it.webflux;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

/**
 * A call that blocks makes its test red on each kind of thread, though the test itself
 * sees nothing of it. Without this the green of all other tests would say nothing.
 */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "BlockHound does not name newer ones")
class BlockedThreadsTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	@Value("${local.server.port}")
	private int port;

	@Test
	void eventLoopOfTheServer() {
		assertRed("-http-",
				() -> assertThat(new Client(this.port).post("/canary", UUID.randomUUID().toString()).status())
					.isEqualTo(200));
	}

	@Test
	void timersOfReactor() {
		assertRed("parallel-", () -> park(on(Schedulers.parallel())));
		assertRed("single-", () -> park(on(Schedulers.single())));
	}

	@Test
	void threadsThatMayWait() {
		assertThat(run(() -> park(on(Schedulers.boundedElastic()))).getTestsSucceededCount()).isOne();
	}

	/**
	 * A cache or a pool of buffers has one, and two threads may meet there on any day.
	 */
	@Test
	void lockOfOthers() {
		AtomicReference<Runnable> evicted = new AtomicReference<>();
		Cache<Integer, Integer> cache = Caffeine.newBuilder()
			.maximumSize(0)
			.executor(Runnable::run)
			.evictionListener((key, value, cause) -> evicted.getAndSet(() -> {
			}).run())
			.build();
		assertThat(run(() -> meet((held) -> {
			evicted.set(held);
			cache.put(1, 1);
		}, () -> cache.cleanUp())).getTestsSucceededCount()).isOne();
	}

	@Test
	void lockOfOurs() {
		Lock lock = new ReentrantLock();
		assertRed("parallel-", () -> meet((held) -> {
			lock.lock();
			held.run();
			lock.unlock();
		}, () -> {
			lock.lock();
			lock.unlock();
		}));
	}

	@Nested
	@Requires(Backend.REDIS)
	class OnRedis {

		@Test
		void eventLoopOfLettuce() {
			try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);
					RedisClient client = RedisClient.create("redis://127.0.0.1:" + server.port());
					StatefulRedisConnection<String, String> connection = client.connect()) {
				assertRed("lettuce-", () -> park(connection.reactive().ping()));
			}
		}

	}

	@Nested
	@Requires(Backend.POSTGRESQL)
	class OnPostgreSql {

		@Test
		void eventLoopOfR2dbc() {
			assertRed("reactor-tcp-",
					() -> park(row(PostgreSqlServer.shared(PostgreSqlBinary.values()[0]).newDatabase())));
		}

	}

	@Nested
	@Requires(Backend.MARIADB)
	class OnMariaDb {

		@Test
		void eventLoopOfR2dbc() {
			assertRed("reactor-tcp-", () -> park(row(MariaDbServer.shared().newDatabase())));
		}

	}

	private static Mono<Object> row(SqlDatabase database) {
		ConnectionFactory connections = ConnectionFactories
			.get(ConnectionFactoryOptions.parse("r2dbc:" + database.url().substring("jdbc:".length()))
				.mutate()
				.option(ConnectionFactoryOptions.USER, database.user())
				.build());
		return Mono.usingWhen(connections.create(),
				(connection) -> Flux.from(connection.createStatement("SELECT 1").execute())
					.concatMap((result) -> result.map((row, columns) -> row.get(0)))
					.single(),
				Connection::close);
	}

	private static Mono<Integer> on(Scheduler scheduler) {
		return Mono.just(1).publishOn(scheduler);
	}

	/** Waits where it must not, on the thread that gives a value. */
	private static void park(Mono<?> value) {
		value.doOnNext((any) -> LockSupport.parkNanos(1)).block(PATIENCE);
	}

	/** A timer of Reactor comes to a lock that this thread holds, and waits for it. */
	private static void meet(Consumer<Runnable> holder, Runnable locking) {
		AtomicReference<Thread> timer = new AtomicReference<>();
		AtomicReference<CompletableFuture<Integer>> second = new AtomicReference<>();
		holder.accept(() -> {
			second.set(on(Schedulers.parallel()).doOnNext((any) -> {
				timer.set(Thread.currentThread());
				locking.run();
			}).toFuture());
			await().until(() -> timer.get() != null && timer.get().getState() == Thread.State.WAITING);
		});
		second.get().join();
	}

	private static void assertRed(String thread, Runnable blocking) {
		assertThat(run(blocking).getFailures()).singleElement()
			.satisfies((failure) -> assertThat(failure.getException()).hasMessageContaining(thread)
				.hasMessageContaining("park"));
	}

	/** Runs a test as every other one is run. */
	private static TestExecutionSummary run(Runnable test) {
		Canary.test = test;
		SummaryGeneratingListener listener = new SummaryGeneratingListener();
		LauncherFactory.create(LauncherConfig.builder().enableTestExecutionListenerAutoRegistration(false).build())
			.execute(LauncherDiscoveryRequestBuilder.request()
				.selectors(selectClass(Canary.class))
				.configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
				.build(), listener);
		return listener.getSummary();
	}

	/** Is run by the tests above, and by nobody else. */
	static class Canary {

		private static Runnable test;

		@Test
		void sings() {
			test.run();
		}

	}

}
