package io.idempotency.reactor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyRecord.State;
import io.idempotency.IdempotencyListener;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.RecordKey;
import io.idempotency.store.Scheduler;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static io.idempotency.reactor.Client.await;

/**
 * Thousands of callers, of which many hang up, in the time and on the threads of the JVM.
 */
class ManyCallersTests {

	private static final IdempotencyOptions WAIT = IdempotencyOptions.DEFAULTS.change()
		.operation("orders.create")
		.conflict(ConflictMode.WAIT)
		.waitTimeout(Duration.ofMinutes(2))
		.build();

	private final Scheduler system = Scheduler.system();

	private final IdempotencyEngine engine = new IdempotencyEngine(20_000,
			new DetachedCalls.Limits(20_000, Duration.ofMinutes(10)), IdempotencyListener.NONE, this.system, () -> null,
			null, EngineObserver.NONE);

	private final ReactiveIdempotencyEngine reactive = new ReactiveIdempotencyEngine(this.engine, List.of());

	private final MemoryIdempotencyStore memory = new MemoryIdempotencyStore(256_000_000);

	@AfterEach
	void close() {
		this.engine.close(Duration.ofSeconds(1));
		this.reactive.close();
		this.system.close();
	}

	private static GuardedCall call(int key, IdempotencyStore store) {
		return new GuardedCall(IdempotencyKey.of("orders.create", Caller.GLOBAL, "key-" + key), Fingerprint.NONE, WAIT,
				store);
	}

	@Test
	void duplicatesThatWaitHoldNoThread() {
		int keys = 50;
		Sinks.Empty<Void> gate = Sinks.empty();
		TextAction action = new TextAction(gate.asMono().thenReturn("order"));
		List<Client<String>> callers = new ArrayList<>();
		for (int i = 0; i < keys; i++) {
			callers.add(Client.of(this.reactive.execute(call(i, this.memory), action, OnDisconnect.CONTINUE)));
		}
		int threads = Thread.getAllStackTraces().size();
		for (int i = 0; i < 5_000; i++) {
			callers.add(Client.of(this.reactive.execute(call(i % keys, this.memory), action, OnDisconnect.CONTINUE)));
		}
		assertThat(this.engine.load().waiters()).isEqualTo(5_000);
		// The threads of the timers, of the beats and of the parallel scheduler may be
		// new.
		assertThat(Thread.getAllStackTraces().size() - threads).isLessThan(30 + Schedulers.DEFAULT_POOL_SIZE);
		gate.tryEmitEmpty();
		await().untilAsserted(
				() -> assertThat(callers).filteredOn((caller) -> "order".equals(caller.value)).hasSize(5_000 + keys));
		assertThat(action.runs).hasValue(keys);
		await().until(() -> this.engine.load().waiters() == 0);
	}

	/**
	 * Ten thousand calls of two thousand keys, of which half hang up at a random moment.
	 */
	@ParameterizedTest
	@CsvSource({ "CONTINUE, true", "CONTINUE, false", "CANCEL, true" })
	void noKeyRunsTwiceWhileCallersHangUp(OnDisconnect onDisconnect, boolean threads) {
		int calls = 10_000;
		int keys = 2_000;
		IdempotencyStore store = threads ? new OtherStore(this.memory) : this.memory;
		Map<Integer, AtomicInteger> runs = new ConcurrentHashMap<>();
		Random random = new Random(calls);
		List<Client<String>> waiting = new ArrayList<>();
		for (int i = 0; i < calls; i++) {
			int key = random.nextInt(keys);
			TextAction action = new TextAction(Mono.defer(() -> {
				runs.computeIfAbsent(key, (ignored) -> new AtomicInteger()).incrementAndGet();
				return Mono.delay(Duration.ofMillis(ThreadLocalRandom.current().nextInt(20)));
			}).thenReturn("order-" + key));
			boolean hangsUp = i % 2 == 0;
			Mono<String> call = this.reactive.execute(call(key, store), action, onDisconnect)
				.subscribeOn(Schedulers.parallel());
			Client<String> caller = Client.of(call);
			if (hangsUp) {
				long after = random.nextInt(30_000);
				Schedulers.parallel().schedule(caller::hangUp, after, TimeUnit.MICROSECONDS);
			}
			else if (onDisconnect == OnDisconnect.CONTINUE) {
				waiting.add(caller);
			}
		}
		await().untilAsserted(() -> assertThat(waiting).allSatisfy((caller) -> assertThat(caller.value).isNotNull()));
		// Work whose caller is gone may still go on, and the first may not have begun.
		await().until(() -> !runs.isEmpty() && this.engine.load().runningClaims() == 0);
		assertThat(runs).allSatisfy((key, count) -> assertThat(count).as("runs of key %s", key).hasValue(1));
		for (int key = 0; key < keys; key++) {
			State state = this.memory.admin()
				.orElseThrow()
				.find(RecordKey.of(call(key, store).key()))
				.map((found) -> found.state())
				.orElse(null);
			if (onDisconnect == OnDisconnect.CONTINUE) {
				assertThat(state).as("key %s", key).isEqualTo(runs.containsKey(key) ? State.DONE : null);
			}
			else {
				// What was cancelled is left to its lease.
				assertThat(state).as("key %s", key).isIn(State.DONE, State.RUNNING, null);
			}
		}
	}

	/** No store of which it is known that it does not block. */
	private static final class OtherStore extends ForwardingIdempotencyStore {

		OtherStore(IdempotencyStore store) {
			super(store);
		}

	}

}
