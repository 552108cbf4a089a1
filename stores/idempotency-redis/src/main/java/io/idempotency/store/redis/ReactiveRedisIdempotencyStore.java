package io.idempotency.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.Renewal;
import io.idempotency.store.redis.ScriptRunner.Deadline;
import io.idempotency.store.redis.ScriptRunner.Pending;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The non-blocking form of a {@link RedisIdempotencyStore}: the same scripts, the same
 * records and the same timeout, through the Lettuce connection of the other form.
 * <p>
 * A cancelled step is applied nevertheless, and leaves no resources behind. Results come
 * on the threads of {@link Schedulers#parallel()}, never on a Lettuce thread.
 * Thread-safe. It must not be used after its blocking form is closed, which closes the
 * shared connections.
 *
 * @since 0.1.0
 */
public final class ReactiveRedisIdempotencyStore implements ReactiveIdempotencyStore {

	private final RedisIdempotencyStore store;

	private final ScriptComposer steps;

	private final ScriptRunner scripts;

	private final Scheduler scheduler = Schedulers.parallel();

	private ReactiveRedisIdempotencyStore(RedisIdempotencyStore store) {
		this.store = store;
		this.steps = store.steps();
		this.scripts = store.scripts();
	}

	/**
	 * Returns the non-blocking form of a store.
	 * @param store the store
	 * @return its form, empty for Jedis, which always blocks
	 */
	public static Optional<ReactiveRedisIdempotencyStore> of(RedisIdempotencyStore store) {
		return (store.scripts() instanceof SpringScriptRunner) ? Optional.empty()
				: Optional.of(new ReactiveRedisIdempotencyStore(store));
	}

	@Override
	public Mono<ClaimResult> claim(ClaimRequest request) {
		return make(this.steps.claim(request));
	}

	@Override
	public Mono<Boolean> complete(Completion completion) {
		return make(this.steps.complete(completion));
	}

	@Override
	public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
		return make(this.steps.release(key, claimId));
	}

	@Override
	public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return make(this.steps.renew(key, claimId, lease));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * All scripts are sent without a wait between them.
	 */
	@Override
	public Mono<Set<ClaimId>> renewAll(Collection<Renewal> renewals) {
		List<Renewal> all = List.copyOf(renewals);
		return all
			.isEmpty()
					? Mono.just(Set.of())
					: this
						.<List<Long>>carryOut(RedisScript.RENEW,
								(deadline) -> this.scripts.runAll(RedisScript.RENEW, this.steps.renewAll(all),
										deadline))
						.map((replies) -> ScriptComposer.rejected(all, replies));
	}

	@Override
	public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		return make(this.steps.issue(token, timeToLive));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * A plain {@code GET}, as {@link RedisIdempotencyStore#find} sends it.
	 */
	@Override
	public Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return carryOut("look", (deadline) -> this.scripts.get(this.steps.key(key), deadline))
			.mapNotNull((record) -> RedisIdempotencyStore.found(record, fingerprint).orElse(null));
	}

	@Override
	public RedisIdempotencyStore blocking() {
		return this.store;
	}

	private <R, T> Mono<T> make(ScriptComposer.Step<R, T> step) {
		return this
			.<R>carryOut(step.verb(), (deadline) -> this.scripts.run(step.verb(), step.keyAndArguments(), deadline))
			.map(step.answer());
	}

	/**
	 * Makes a step for each subscription. The failure of a step travels as a value, so
	 * that Reactor does not log it after a cancellation.
	 */
	private <R> Mono<R> carryOut(Object verb, Function<Deadline, Pending<R>> step) {
		return Mono.fromFuture(() -> {
			Deadline deadline = this.store.deadline();
			Pending<R> pending = step.apply(deadline);
			Disposable timer = this.scheduler.schedule(pending::timeOut, deadline.rest(), TimeUnit.NANOSECONDS);
			return pending.reply().<Supplier<R>>handle((reply, failure) -> {
				timer.dispose();
				return () -> {
					if (failure != null) {
						throw this.store.failure(verb, failure);
					}
					return reply;
				};
			});
		}, true).publishOn(this.scheduler).mapNotNull(Supplier::get);
	}

}
