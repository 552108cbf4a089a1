package io.idempotency.autoconfigure.actuate;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether one store responds. Thread-safe. At most one check is in progress, and
 * its result is reused for the next seconds. While a check hangs, no other check is sent,
 * and all callers get the result that the store does not respond in time.
 */
final class StoreProbe {

	/**
	 * How long a result is reused, so that frequent health checks do not load the store.
	 */
	static final Duration KEPT = Duration.ofSeconds(3);

	private final IdempotencyStore store;

	private final IdempotencyKey key;

	private final Duration timeout;

	private final Scheduler scheduler;

	private final Executor thread;

	private @Nullable Question last;

	/**
	 * Creates the probe.
	 * @param key a key that no call uses
	 * @param timeout how long to wait for a response
	 * @param scheduler time and threads
	 */
	StoreProbe(IdempotencyStore store, IdempotencyKey key, Duration timeout, Scheduler scheduler) {
		this.store = store;
		this.key = key;
		this.timeout = timeout;
		this.scheduler = scheduler;
		this.thread = scheduler.threads("health", 1);
	}

	IdempotencyStore store() {
		return this.store;
	}

	/** Starts a check, unless one is in progress or its result can still be reused. */
	synchronized Question begin() {
		Question known = this.last;
		long now = this.scheduler.nanos();
		if (known != null && !known.isOver(now)) {
			return known;
		}
		Question question = new Question(now, new CompletableFuture<>());
		this.last = question;
		try {
			this.thread.execute(() -> ask(question));
		}
		catch (RejectedExecutionException ex) {
			question.answer()
				.complete((ex.getCause() != null) ? StoreHealth.describe(ex) : "The application is stopping");
		}
		return question;
	}

	private void ask(Question question) {
		String problem = "The check failed with an error. See the application log";
		try {
			// The record is absent, so the renewal changes nothing. Any reply shows that
			// the store is available.
			this.store.renew(this.key, ClaimId.random(), Duration.ofSeconds(1));
			problem = null;
		}
		catch (RuntimeException | LinkageError ex) {
			problem = StoreHealth.describe(ex);
		}
		finally {
			question.answer().complete(problem);
		}
	}

	/** Returns why the store does not respond, {@code null} if it does. */
	@Nullable String problem() {
		Question question = begin();
		long rest = question.asked + TimeUnit.NANOSECONDS.convert(this.timeout) - this.scheduler.nanos();
		try {
			return question.answer.get(Math.max(0, rest), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			return "No response within " + this.timeout.toMillis() + " ms";
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return "Interrupted";
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * One check and its result.
	 *
	 * @param asked when the check started
	 */
	record Question(long asked, CompletableFuture<@Nullable String> answer) {

		boolean isOver(long now) {
			return this.answer.isDone() && now - this.asked >= KEPT.toNanos();
		}

	}

}
