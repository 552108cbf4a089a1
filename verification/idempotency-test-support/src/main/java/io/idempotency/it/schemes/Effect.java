package io.idempotency.it.schemes;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the guarded methods do for one identifier: counted, and under a test's control.
 */
final class Effect {

	private final AtomicInteger runs = new AtomicInteger();

	private final AtomicInteger lookUps = new AtomicInteger();

	private final AtomicInteger running = new AtomicInteger();

	private final AtomicInteger mostAtOnce = new AtomicInteger();

	private final Semaphore started = new Semaphore(0);

	private final Queue<CountDownLatch> gates = new ConcurrentLinkedQueue<>();

	private final Queue<RuntimeException> failures = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean failLookUp = new AtomicBoolean();

	private volatile boolean unique;

	private volatile @Nullable String found;

	/** What a guarded method does. */
	String run() {
		int run = this.runs.incrementAndGet();
		this.mostAtOnce.accumulateAndGet(this.running.incrementAndGet(), Math::max);
		try {
			CountDownLatch gate = this.gates.poll();
			RuntimeException failure = this.failures.poll();
			this.started.release();
			if (gate != null) {
				gate.await();
			}
			if (failure != null) {
				throw failure;
			}
			if (this.unique && run > 1) {
				throw new AlreadyThereException();
			}
			return "run " + run;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		finally {
			this.running.decrementAndGet();
		}
	}

	/** What a {@code recover} method does. */
	@Nullable String find() {
		this.lookUps.incrementAndGet();
		if (this.failLookUp.getAndSet(false)) {
			throw new IllegalStateException("lookup");
		}
		return this.found;
	}

	/** The next run ends when the latch is counted down. */
	CountDownLatch holdNextRun() {
		CountDownLatch gate = new CountDownLatch(1);
		this.gates.add(gate);
		return gate;
	}

	void failNextRun(RuntimeException failure) {
		this.failures.add(failure);
	}

	void failNextLookUp() {
		this.failLookUp.set(true);
	}

	void willBeFound(String result) {
		this.found = result;
	}

	/** Only the first run succeeds, and is what the others find. */
	void allowOnlyOne() {
		this.unique = true;
		this.found = "run 1";
	}

	void awaitStart() {
		try {
			assertThat(this.started.tryAcquire(1, TimeUnit.MINUTES)).as("it runs").isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	int runs() {
		return this.runs.get();
	}

	int lookUps() {
		return this.lookUps.get();
	}

	int mostAtOnce() {
		return this.mostAtOnce.get();
	}

}
