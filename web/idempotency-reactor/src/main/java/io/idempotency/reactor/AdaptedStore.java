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
 * A store whose methods are called by threads that may block, or at once if it never
 * does. A step is not interrupted when its subscription is cancelled: it would then be
 * applied half of the time, and some stores lose their connection by it.
 */
final class AdaptedStore implements ReactiveIdempotencyStore {

	private final IdempotencyStore store;

	private final @Nullable Scheduler threads;

	private final Scheduler answers;

	/**
	 * Adapts a store.
	 * @param threads may block, {@code null} if the store does not
	 * @param answers where the caller goes on, so that its work takes no thread of the
	 * store
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
				// Also an Error, when the system has no thread left.
				sink.error(new StoreNotReachedException(
						"All threads of " + this.store.getClass().getSimpleName() + " are busy", rejection));
			}
		}).publishOn(this.answers) : Mono.fromCallable(step);
	}

}
