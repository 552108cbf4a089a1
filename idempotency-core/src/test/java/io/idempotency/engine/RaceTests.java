package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Eight callers on two nodes meet on one key after the other, while the store that the
 * nodes share fails and stalls at random, before and after what it was asked to do, and
 * the method fails at random. The store's clock stands still, so that no claim is lost by
 * slowness.
 */
@Timeout(180)
class RaceTests {

	private static final int THREADS = 8;

	private final CapturedLog log = new CapturedLog();

	private final MovableClock clock = new MovableClock();

	private final MemoryIdempotencyStore shared = new MemoryIdempotencyStore(64_000_000, this.clock);

	private final List<ScriptedStore> stores = List.of(new ScriptedStore(this.shared), new ScriptedStore(this.shared));

	private final List<IdempotencyEngine> nodes = List.of(new IdempotencyEngine(100, IdempotencyListener.NONE),
			new IdempotencyEngine(100, IdempotencyListener.NONE));

	private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

	private final Map<IdempotencyKey, AtomicInteger> overlaps = new ConcurrentHashMap<>();

	private final Map<IdempotencyKey, AtomicInteger> effects = new ConcurrentHashMap<>();

	private final Map<IdempotencyKey, Set<String>> answers = new ConcurrentHashMap<>();

	private final Queue<Object> violations = new ConcurrentLinkedQueue<>();

	private final AtomicInteger runs = new AtomicInteger();

	@BeforeEach
	void disturb() {
		for (ScriptedStore store : this.stores) {
			for (Verb verb : Verb.values()) {
				for (Point point : Point.values()) {
					store.on(verb, point, ScriptedStore.ALWAYS, () -> disturb(verb));
				}
			}
		}
	}

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.nodes.forEach(IdempotencyEngine::close);
		this.log.close();
	}

	@Test
	void noKeyIsDoneTwiceAndNoneIsStuck() throws Exception {
		List<IdempotencyKey> keys = keys(1_500);
		TestPolicy policy = TestPolicy.replay();
		race(keys, (node, key) -> call(node, key, maybeWaiting(policy), TestAction.running(() -> run(key))));
		settle(keys, (node, key) -> call(node, key, policy, TestAction.running(() -> "settled by " + run(key))));
		assertThat(this.violations).isEmpty();
		assertThat(keys).allSatisfy((key) -> {
			assertThat(this.effects.get(key)).hasValue(1);
			assertThat(this.answers.get(key)).hasSize(1);
		});
		assertThat(this.runs).hasValueGreaterThan(1_500);
	}

	@Test
	void noEffectOfADeadOwnerIsRepeated() throws Exception {
		List<IdempotencyKey> keys = keys(400);
		Map<IdempotencyKey, String> ledger = new ConcurrentHashMap<>();
		for (IdempotencyKey key : keys) {
			die(key);
			if (ThreadLocalRandom.current().nextBoolean()) {
				ledger.put(key, "effect of the dead owner");
			}
		}
		this.clock.advance(Duration.ofSeconds(30));
		TestPolicy policy = TestPolicy.replay().recoverable();
		Guarded guarded = (node, key) -> call(node, key, maybeWaiting(policy), TestAction.running(() -> {
			if (ledger.put(key, "effect of a successor") != null) {
				this.violations.add("second effect of " + key);
			}
			fail(5);
			return "effect of a successor";
		}).recovering(() -> {
			fail(10);
			return ledger.get(key);
		}));
		race(keys, guarded);
		settle(keys, guarded);
		assertThat(this.violations).isEmpty();
		assertThat(keys).allSatisfy((key) -> assertThat(this.answers.get(key)).containsExactly(ledger.get(key)));
	}

	private String run(IdempotencyKey key) {
		AtomicInteger overlap = this.overlaps.computeIfAbsent(key, (ignored) -> new AtomicInteger());
		if (overlap.incrementAndGet() > 1) {
			this.violations.add("two runs of " + key + " at the same time");
		}
		try {
			Thread.yield();
			int run = this.runs.incrementAndGet();
			fail(5);
			this.effects.computeIfAbsent(key, (ignored) -> new AtomicInteger()).incrementAndGet();
			return "run " + run;
		}
		finally {
			overlap.decrementAndGet();
		}
	}

	private static void fail(int oneIn) {
		if (ThreadLocalRandom.current().nextInt(oneIn) == 0) {
			throw new MethodFailure();
		}
	}

	private static void disturb(Verb verb) {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		for (int stall = random.nextInt(4); stall > 0; stall--) {
			Thread.yield();
		}
		int failures = (verb == Verb.CLAIM) ? 120 : 20;
		int dice = random.nextInt(1_000);
		if (dice < failures) {
			throw new IdempotencyStoreException("at random");
		}
		if (dice == 999) {
			throw new StoreError();
		}
	}

	private void race(List<IdempotencyKey> keys, Guarded guarded) throws Exception {
		CyclicBarrier together = new CyclicBarrier(THREADS);
		List<Future<?>> callers = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			int node = i % 2;
			callers.add(this.threads.submit(() -> {
				for (IdempotencyKey key : keys) {
					together.await();
					attempt(guarded, node, key);
				}
				return null;
			}));
		}
		for (Future<?> caller : callers) {
			caller.get();
		}
	}

	/** The store is well again: every key comes to its end. */
	private void settle(List<IdempotencyKey> keys, Guarded guarded) {
		this.stores.forEach(ScriptedStore::heal);
		Set<IdempotencyKey> unsettled = new HashSet<>(keys);
		await().pollInSameThread().until(() -> {
			unsettled.removeIf((key) -> attempt(guarded, 0, key));
			return unsettled.isEmpty();
		});
	}

	private boolean attempt(Guarded guarded, int node, IdempotencyKey key) {
		try {
			String answer = guarded.call(node, key);
			this.answers.computeIfAbsent(key, (ignored) -> ConcurrentHashMap.newKeySet()).add(answer);
			return true;
		}
		catch (MethodFailure | StoreError | IdempotencyInProgressException | IdempotencyStoreUnavailableException ex) {
			return false;
		}
		catch (Throwable ex) {
			this.violations.add(ex);
			return false;
		}
	}

	private String call(int node, IdempotencyKey key, TestPolicy policy, TestAction<String> door) throws Throwable {
		GuardedCall call = new GuardedCall(key, Fingerprint.NONE, policy.build(), this.stores.get(node));
		return this.nodes.get(node).execute(call, door);
	}

	private static TestPolicy maybeWaiting(TestPolicy policy) {
		TestPolicy own = policy.build().recoverable() ? TestPolicy.replay().recoverable() : TestPolicy.replay();
		return ThreadLocalRandom.current().nextBoolean() ? own.waiting(Duration.ofMillis(2)) : own;
	}

	/** A node that nobody hears of again has claimed the key. */
	private void die(IdempotencyKey key) {
		IdempotencyOptions policy = TestPolicy.replay().build();
		this.shared.claim(ClaimRequest.of(key, policy.lease(), policy.retention()));
	}

	private static List<IdempotencyKey> keys(int count) {
		List<IdempotencyKey> keys = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			keys.add(IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, "key-" + i));
		}
		return keys;
	}

	/** One guarded call on one node. */
	@FunctionalInterface
	private interface Guarded {

		String call(int node, IdempotencyKey key) throws Throwable;

	}

	private static final class MethodFailure extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	private static final class StoreError extends Error {

		private static final long serialVersionUID = 1L;

	}

}
