package io.idempotency.reactor;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.Callable;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoreNotReachedException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Adapts a blocking {@link IdempotencyStore}. Its methods are called on threads that may
 * block, or on the calling thread if the store never blocks. A step is not interrupted
 * when its subscription is cancelled. An interrupt could apply it partially, and some
 * stores lose their connection.
 */
final class AdaptedStore implements ReactiveIdempotencyStore {

	private final IdempotencyStore store;

	private final @Nullable Scheduler threads;

	private final Scheduler answers;

	/**
	 * Adapts a store.
	 * @param threads threads that may block, {@code null} if the store does not block
	 * @param answers the scheduler on which the caller continues, so that its work does
	 * not use a thread of the store
	 */
	AdaptedStore(IdempotencyStore store, @Nullable Scheduler threads, Scheduler answers) {
		this.store = store;
		this.threads = threads;
		this.answers = answers;
	}

	@Override
	public Mono<ClaimResult> claim(ClaimRequest request) {
		return step(() -> this.store.claim(request));
	}

	@Override
	public Mono<Boolean> complete(Completion completion) {
		return step(() -> this.store.complete(completion));
	}

	@Override
	public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
		return step(() -> this.store.release(key, claimId));
	}

	@Override
	public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return step(() -> this.store.renew(key, claimId, lease));
	}

	@Override
	public Mono<Set<ClaimId>> renewAll(Collection<Renewal> renewals) {
		return step(() -> this.store.renewAll(renewals));
	}

	@Override
	public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		return step(() -> this.store.issue(token, timeToLive));
	}

	@Override
	public Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return step(() -> this.store.find(key, fingerprint).orElse(null));
	}

	@Override
	public IdempotencyStore blocking() {
		return this.store;
	}

	private <T> Mono<T> step(Callable<@Nullable T> step) {
		Scheduler on = this.threads;
		return (on != null) ? Mono.<T>create((sink) -> {
			try {
				on.schedule(() -> {
					try {
						sink.success(step.call());
					}
					catch (Throwable ex) {
						sink.error(ex);
					}
				});
			}
			catch (Throwable rejection) {
				// Also an Error, if the system cannot create another thread.
				sink.error(new StoreNotReachedException(
						"All threads of " + this.store.getClass().getSimpleName() + " are busy", rejection));
			}
		}).publishOn(this.answers) : Mono.fromCallable(step);
	}

}
