package io.idempotency.it.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.OwnWork;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An application that ends at the moment at which its Redis is back, while its client
 * still pauses before it connects again: Lettuce does so for up to half a minute.
 */
@Requires(Backend.REDIS)
class RedisCloseTests {

	private static final int CALLS = 10;

	private static final Duration AWAY = Duration.ofMillis(1_500);

	/** As after half a minute, but from the beginning. */
	private static final Duration PAUSE = Duration.ofSeconds(20);

	private static final Duration STORE_TIMEOUT = Duration.ofSeconds(6);

	@Test
	void closeBringsInWhatIsOutstandingWhileTheClientPauses() throws Exception {
		try (RedisServer server = RedisServer.startDurable(RedisBinary.REDIS_7_0);
				IdempotencyEngine engine = new IdempotencyEngine(10, (event, operation) -> {
				})) {
			ClientResources resources = DefaultClientResources.builder().reconnectDelay(Delay.constant(PAUSE)).build();
			LettuceConnectionFactory factory = pausing(server.port(), resources);
			RedisIdempotencyStore store = new RedisIdempotencyStore(factory, "idempotency:", STORE_TIMEOUT);
			await().ignoreExceptions().until(() -> !store.renew(key(0), ClaimId.random(), STORE_TIMEOUT));
			List<Future<?>> calls = new ArrayList<>();
			CountDownLatch running = new CountDownLatch(CALLS);
			CountDownLatch away = new CountDownLatch(1);
			ExecutorService callers = Executors.newFixedThreadPool(CALLS);
			IntStream.range(0, CALLS)
				.forEach((number) -> calls.add(callers.submit(() -> call(engine, store, number, running, away))));
			assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
			server.kill();
			long back = System.nanoTime() + AWAY.toNanos();
			away.countDown();
			for (Future<?> call : calls) {
				call.get();
			}
			assertThat(engine.load().outstandingWrites()).isEqualTo(CALLS);
			await().until(() -> System.nanoTime() - back > 0);
			server.restart();
			engine.close();
			assertThat(states(server)).containsOnly("Completed").hasSize(CALLS);
			callers.shutdownNow();
			store.close();
			factory.destroy();
			resources.shutdown(0, 2, TimeUnit.SECONDS);
		}
	}

	private static LettuceConnectionFactory pausing(int port, ClientResources resources) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				LettuceClientConfiguration.builder().shutdownTimeout(Duration.ZERO).clientResources(resources).build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static @Nullable Object call(IdempotencyEngine engine, RedisIdempotencyStore store, int number,
			CountDownLatch running, CountDownLatch away) throws Exception {
		GuardedCall call = new GuardedCall(key(number), Fingerprint.NONE,
				IdempotencyOptions.DEFAULTS.change().operation("payments").build(), store);
		try {
			return engine.execute(call, OwnWork.of(() -> {
				running.countDown();
				away.await();
				return "paid";
			}));
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static IdempotencyKey key(int number) {
		return IdempotencyKey.of("payments", Caller.GLOBAL, "key-" + number);
	}

	/** What another node would be told of each key. */
	private static List<String> states(RedisServer server) {
		LettuceConnectionFactory factory = RedisClients.lettuce(server);
		try (RedisIdempotencyStore store = new RedisIdempotencyStore(factory)) {
			return IntStream.range(0, CALLS)
				.mapToObj((number) -> store
					.claim(ClaimRequest.of(key(number), Duration.ofSeconds(30), Duration.ofHours(1)))
					.getClass()
					.getSimpleName())
				.toList();
		}
		finally {
			factory.destroy();
		}
	}

}
