package io.idempotency.it.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.random.Seed;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.EngineObserver;
import io.idempotency.observation.ObservationConfiguration;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.GuardedCall;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveAction;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.Scheduler;
import io.idempotency.store.StoredResult;
import io.idempotency.store.redis.ReactiveRedisIdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Guarded calls that do not block, over Redis. */
@Requires(Backend.REDIS)
class ReactiveRedisCallsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration STORE_TIMEOUT = Duration.ofMillis(500);

	private static final IdempotencyOptions POLICY = IdempotencyOptions.DEFAULTS.change()
		.operation("orders.create")
		.build();

	private RedisServer server;

	private LettuceConnectionFactory connections;

	private IdempotencyEngine engine;

	@BeforeEach
	void start() {
		this.server = RedisServer.start(RedisBinary.REDIS_7_0);
		this.connections = RedisClients.untunedLettuce(this.server.port());
		this.engine = new IdempotencyEngine(1_000, (event, operation) -> {
		});
	}

	@AfterEach
	void stop() {
		this.engine.close(Duration.ofSeconds(1));
		this.connections.destroy();
		this.server.close();
	}

	private RedisIdempotencyStore store(Duration timeout) {
		return new RedisIdempotencyStore(this.connections, "test:", timeout);
	}

	private ReactiveIdempotencyEngine reactive(RedisIdempotencyStore store) {
		return new ReactiveIdempotencyEngine(this.engine,
				List.of(ReactiveRedisIdempotencyStore.of(store).orElseThrow()));
	}

	private static Mono<String> call(ReactiveIdempotencyEngine reactive, IdempotencyStore store, IdempotencyKey key,
			Mono<String> work) {
		return reactive.execute(new GuardedCall(key, Fingerprint.NONE, POLICY, store), new Text(work),
				OnDisconnect.CONTINUE);
	}

	private static EngineObserver observer(MeterRegistry meters) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.getBeanFactory().registerSingleton("node", ClaimOrigin.UNKNOWN);
			context.getBeanFactory().registerSingleton("meters", meters);
			context.register(ObservationConfiguration.Calls.class, ObservationConfiguration.Meters.class);
			context.refresh();
			return context.getBean(EngineObserver.class);
		}
	}

	@Test
	void itsTimeIsMeasured() {
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		try (Scheduler scheduler = Scheduler.system(); RedisIdempotencyStore store = store(PATIENCE)) {
			IdempotencyEngine observed = new IdempotencyEngine(10, DetachedCalls.Limits.DEFAULTS,
					(event, operation) -> {
					}, scheduler, () -> null, null, observer(meters));
			ReactiveIdempotencyEngine reactive = new ReactiveIdempotencyEngine(observed,
					List.of(ReactiveRedisIdempotencyStore.of(store).orElseThrow()));
			call(reactive, store, Requests.key(), Mono.just("done")).block(PATIENCE);
			for (String verb : List.of("claim", "complete")) {
				assertThat(meters.get("idempotency.store").tags("verb", verb, "outcome", "success").timer().count())
					.as(verb)
					.isEqualTo(1);
			}
			observed.close(Duration.ofSeconds(1));
			reactive.close();
		}
	}

	/** A server that stands still keeps the first ones for the time-out of the store. */
	@Test
	void callsAreRejectedAtOnceWhileTheServerIsAway() {
		try (RedisIdempotencyStore store = store(STORE_TIMEOUT); ReactiveIdempotencyEngine reactive = reactive(store)) {
			awaitAnswer(reactive, store);
			this.server.pause();
			await().atMost(PATIENCE).until(() -> {
				long asked = System.nanoTime();
				assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
					.isThrownBy(() -> call(reactive, store, Requests.key(), Mono.just("done")).block(PATIENCE));
				return System.nanoTime() - asked < STORE_TIMEOUT.toNanos() / 2;
			});
			this.server.resume();
			awaitAnswer(reactive, store);
		}
	}

	@Test
	void callsAreRejectedWhileTheServerIsGone() {
		try (RedisIdempotencyStore store = store(STORE_TIMEOUT); ReactiveIdempotencyEngine reactive = reactive(store)) {
			awaitAnswer(reactive, store);
			this.server.kill();
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> IntStream.range(0, 3)
				.forEach((i) -> call(reactive, store, Requests.key(), Mono.just("done")).block(PATIENCE)));
			this.server.restart();
			awaitAnswer(reactive, store);
		}
	}

	private static void awaitAnswer(ReactiveIdempotencyEngine reactive, IdempotencyStore store) {
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class)
			.until(() -> call(reactive, store, Requests.key(), Mono.just("done")).block(PATIENCE), "done"::equals);
	}

	/** Half of 10,000 callers hang up, each at a random moment. */
	@Test
	void stormOfHangUpsRunsNoKeyTwiceAndLeavesNoneRunning() {
		int keys = 2_000;
		AtomicIntegerArray runs = new AtomicIntegerArray(keys);
		AtomicInteger hungUp = new AtomicInteger();
		Random random = Seed.random(getClass());
		try (RedisIdempotencyStore store = store(PATIENCE); ReactiveIdempotencyEngine reactive = reactive(store)) {
			Flux.range(0, 10_000).flatMap((i) -> {
				int key = i % keys;
				Mono<String> work = Mono.delay(Duration.ofNanos(random.nextLong(3_000_000)))
					.map((over) -> "run " + runs.incrementAndGet(key));
				Mono<String> call = call(reactive, store, key(key), work).onErrorComplete(IdempotencyException.class);
				return random.nextBoolean() ? call : hangUp(call, Duration.ofNanos(random.nextLong(6_000_000)), hungUp);
			}, 500).blockLast(Duration.ofSeconds(180));
			assertThat(hungUp).hasPositiveValue();
			RecordAdmin records = store.admin().orElseThrow();
			await().atMost(PATIENCE).untilAsserted(() -> {
				for (int i = 0; i < keys; i++) {
					IdempotencyRecord.@Nullable State state = records.find(RecordKey.of(key(i)))
						.map(IdempotencyRecord::state)
						.orElse(null);
					assertThat(runs.get(i)).as("runs of key %s", i).isLessThanOrEqualTo(1);
					assertThat(state).as("key %s", i)
						.isEqualTo((runs.get(i) == 1) ? IdempotencyRecord.State.DONE : null);
				}
			});
		}
	}

	private static IdempotencyKey key(int number) {
		return Requests.key("orders.create", "storm-" + number);
	}

	private static Mono<String> hangUp(Mono<String> call, Duration after, AtomicInteger hungUp) {
		return Mono.create((sink) -> {
			Disposable caller = call.subscribe(sink::success, sink::error, sink::success);
			Schedulers.parallel().schedule(() -> {
				if (!caller.isDisposed()) {
					hungUp.incrementAndGet();
					caller.dispose();
				}
				sink.success();
			}, after.toNanos(), TimeUnit.NANOSECONDS);
		});
	}

	/** Work whose result is a text. */
	private record Text(Mono<String> run) implements ReactiveAction<String> {

		@Override
		public String replay(StoredResult result) {
			return new String(result.bytes(), StandardCharsets.UTF_8);
		}

		@Override
		public CallOutcome returned(@Nullable String value, boolean recovered) {
			return new CallOutcome.Done(
					() -> new StoredResult("text", String.valueOf(value).getBytes(StandardCharsets.UTF_8)));
		}

		@Override
		public CallOutcome threw(Throwable failure) {
			return new CallOutcome.Failed(failure, null);
		}

	}

}
