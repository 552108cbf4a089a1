package io.idempotency.it.store;

import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/**
 * A JVM that can start no further thread while two calls run that are longer than their
 * lease. It prints what became of them.
 */
final class CrowdedNode {

	private static final Duration LEASE = Duration.ofSeconds(10);

	private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(16_000_000, Clock.systemUTC());

	private final IdempotencyEngine engine = new IdempotencyEngine(10, (event, operation) -> System.out.println(event));

	private CrowdedNode() {
	}

	public static void main(String[] args) throws Throwable {
		new CrowdedNode().run();
		System.exit(0);
	}

	private void run() throws Throwable {
		CompletableFuture<String> first = new CompletableFuture<>();
		CompletableFuture<String> second = new CompletableFuture<>();
		CompletableFuture<?> firstAnswer = start("first", first);
		CountDownLatch room = new CountDownLatch(1);
		int crowd = crowd(room);
		System.out.println("crowded " + (crowd > 0));
		CompletableFuture<?> secondAnswer = start("second", second);
		System.out.println("held " + isHeldUntilRenewed("first", "second"));
		first.complete("one");
		System.out.println("answered " + firstAnswer.get(60, TimeUnit.SECONDS));
		room.countDown();
		System.out.println("held later " + isHeldUntilRenewed("second"));
		second.complete("two");
		System.out.println("answered " + secondAnswer.get(60, TimeUnit.SECONDS));
		System.out.println(ask("first").getClass().getSimpleName());
		System.out.println(ask("second").getClass().getSimpleName());
	}

	/** Starts threads until there is no room for one more; returns how many. */
	private static int crowd(CountDownLatch room) {
		List<Thread> threads = new ArrayList<>();
		while (true) {
			Thread thread = new Thread(() -> {
				try {
					room.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			});
			try {
				thread.start();
			}
			catch (OutOfMemoryError full) {
				return threads.size();
			}
			threads.add(thread);
		}
	}

	/** Asks until all claims were renewed twice. */
	private boolean isHeldUntilRenewed(String... keys) throws InterruptedException {
		for (int renewals = 0; renewals < 2; renewals++) {
			for (String key : keys) {
				Duration rest = LEASE;
				for (Duration now = rest(key); now.compareTo(rest) <= 0; now = rest(key)) {
					if (now.isZero()) {
						return false;
					}
					rest = now;
					TimeUnit.MILLISECONDS.sleep(50);
				}
			}
		}
		return true;
	}

	/** Returns how long a claim is still held, which is zero if it is not. */
	private Duration rest(String key) {
		return (ask(key) instanceof ClaimResult.InProgress held) ? held.rest() : Duration.ZERO;
	}

	private ClaimResult ask(String key) {
		return this.store.claim(ClaimRequest.of(key(key), LEASE, Duration.ofHours(1)));
	}

	private static IdempotencyKey key(String key) {
		return IdempotencyKey.of("crowded", Caller.GLOBAL, key);
	}

	private CompletableFuture<?> start(String key, CompletableFuture<String> work) throws Throwable {
		GuardedCall call = new GuardedCall(key(key), Fingerprint.NONE,
				IdempotencyOptions.DEFAULTS.change().operation("crowded").lease(LEASE).build(), this.store);
		return (CompletableFuture<?>) this.engine.execute(call, OwnWork.ofFuture(() -> work));
	}

}
