package io.idempotency.reactor;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * A store whose next steps fail, or answer when the test says so, and that remembers what
 * was asked of it, and what was cancelled. Behind it stands a real one.
 */
final class GatedStore implements ReactiveIdempotencyStore {

	private final AdaptedStore store;

	private final Map<String, Queue<UnaryOperator<Mono<Object>>>> script = new HashMap<>();

	final List<String> asked = new ArrayList<>();

	final List<String> cancelled = new ArrayList<>();

	/** The store in transactions, if it has any. */
	@Nullable GatedStore joined;

	GatedStore(IdempotencyStore store) {
		this.store = new AdaptedStore(store, null, Schedulers.immediate());
	}

	/** The step is applied now, and answers when the gate is opened. */
	Gate holdReply(String verb) {
		Sinks.Empty<Void> gate = Sinks.empty();
		next(verb, (step) -> step.flatMap((answer) -> gate.asMono().thenReturn(answer)));
		return gate::tryEmitEmpty;
	}

	/** The step is applied, and answers, when the gate is opened. */
	Gate holdRequest(String verb) {
		Sinks.Empty<Void> gate = Sinks.empty();
		next(verb, (step) -> gate.asMono().then(step));
		return gate::tryEmitEmpty;
	}

	/** The step is not applied. */
	void fail(String verb, Throwable failure) {
		next(verb, (step) -> Mono.error(failure));
	}

	/** The step throws, as Reactor does with errors of the JVM. */
	void breakDown(String verb, Error error) {
		next(verb, (step) -> Mono.fromRunnable(() -> {
			throw error;
		}));
	}

	/** The step is applied, and nobody learns of it. */
	void loseReply(String verb) {
		next(verb, (step) -> step.then(Mono.error(new IdempotencyStoreException("The reply is lost"))));
	}

	/** The store completes and says nothing. */
	void sayNothing(String verb) {
		next(verb, (step) -> step.then(Mono.empty()));
	}

	/** The step is applied, and the store fails when the gate is opened. */
	Gate holdLostReply(String verb) {
		return holdFailure(verb, true, new IdempotencyStoreException("The reply is lost"));
	}

	/** The step is not applied, and the store fails when the gate is opened. */
	Gate holdFailure(String verb, Throwable failure) {
		return holdFailure(verb, false, failure);
	}

	private Gate holdFailure(String verb, boolean applied, Throwable failure) {
		Sinks.Empty<Void> gate = Sinks.empty();
		next(verb, (step) -> (applied ? step.then() : Mono.empty()).then(gate.asMono()).then(Mono.error(failure)));
		return gate::tryEmitEmpty;
	}

	private void next(String verb, UnaryOperator<Mono<Object>> line) {
		this.script.computeIfAbsent(verb, (key) -> new ConcurrentLinkedQueue<>()).add(line);
	}

	@SuppressWarnings("unchecked")
	private <T> Mono<T> step(String verb, Mono<T> step) {
		return Mono.defer(() -> {
			this.asked.add(verb);
			Queue<UnaryOperator<Mono<Object>>> lines = this.script.get(verb);
			UnaryOperator<Mono<Object>> line = (lines != null) ? lines.poll() : null;
			Mono<T> scripted = (line != null) ? (Mono<T>) line.apply((Mono<Object>) step) : step;
			return scripted.doOnCancel(() -> this.cancelled.add(verb));
		});
	}

	@Override
	public Mono<ClaimResult> claim(ClaimRequest request) {
		return step("claim", this.store.claim(request));
	}

	@Override
	public Mono<Boolean> complete(Completion completion) {
		return step("complete", this.store.complete(completion));
	}

	@Override
	public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
		return step("release", this.store.release(key, claimId));
	}

	@Override
	public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return step("renew", this.store.renew(key, claimId, lease));
	}

	@Override
	public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		return step("issue", this.store.issue(token, timeToLive));
	}

	@Override
	public Optional<ReactiveIdempotencyStore> joining() {
		return Optional.ofNullable(this.joined);
	}

	@Override
	public Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return step("find", this.store.find(key, fingerprint));
	}

	@Override
	public IdempotencyStore blocking() {
		return this.store.blocking();
	}

	/** Holds something until it is opened. */
	interface Gate {

		void open();

	}

}
