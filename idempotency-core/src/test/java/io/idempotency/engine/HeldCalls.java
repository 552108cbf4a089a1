package io.idempotency.engine;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.IdempotencyStore;

/**
 * Many calls of one node that run until a test ends them: their results come later, so
 * none of them holds a thread.
 */
final class HeldCalls implements AutoCloseable {

	private static final int CALLERS = 100;

	private final IdempotencyStore store;

	private final IdempotencyOptions policy;

	private final IdempotencyEngine engine;

	private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);

	private final Map<IdempotencyKey, CompletableFuture<String>> work = new ConcurrentHashMap<>();

	private final Map<IdempotencyKey, CompletableFuture<String>> answers = new ConcurrentHashMap<>();

	HeldCalls(IdempotencyStore store, IdempotencyOptions policy, IdempotencyListener listener) {
		this.store = store;
		this.policy = policy;
		this.engine = new IdempotencyEngine(100, listener);
	}

	static List<IdempotencyKey> keys(String prefix, int number) {
		return IntStream.range(0, number)
			.mapToObj((i) -> IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, prefix + i))
			.toList();
	}

	/** Starts a call for each key; all of them run when this returns. */
	void start(List<IdempotencyKey> keys) throws Exception {
		List<Future<CompletableFuture<String>>> started = keys.stream()
			.map((key) -> this.callers.submit(() -> execute(key)))
			.toList();
		for (int i = 0; i < keys.size(); i++) {
			this.answers.put(keys.get(i), started.get(i).get());
		}
	}

	/** One call, whose work has not ended. */
	CompletableFuture<String> execute(IdempotencyKey key) throws Exception {
		CompletableFuture<String> result = this.work.computeIfAbsent(key, (ignored) -> new CompletableFuture<>());
		try {
			return this.engine.execute(new GuardedCall(key, Fingerprint.NONE, this.policy, this.store),
					TestAction.async(() -> result));
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Ends the work of calls. */
	void end(List<IdempotencyKey> keys) {
		keys.forEach((key) -> this.callers.execute(() -> this.work.get(key).complete("result of " + key.value())));
	}

	/** Lets the work of calls fail. */
	void fail(List<IdempotencyKey> keys) {
		keys.forEach((key) -> this.callers
			.execute(() -> this.work.get(key).completeExceptionally(new IllegalStateException("work"))));
	}

	/** Whether all of them have an answer, be it a failure. */
	boolean areAnswered(List<IdempotencyKey> keys) {
		return keys.stream().allMatch((key) -> this.answers.get(key).isDone());
	}

	@Override
	public void close() {
		this.callers.shutdownNow();
		this.engine.close();
	}

}
