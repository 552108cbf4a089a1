package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.Renewal;
import io.idempotency.store.sql.RecordOperations;
import io.idempotency.store.sql.SqlStep;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Waits for the results of the store, on the thread of the caller.
 */
final class BlockingR2dbcStore implements IdempotencyStore {

	/** The bounds of the call itself should end it. */
	private static final Duration SPARE = Duration.ofSeconds(1);

	private final R2dbcIdempotencyStore store;

	private final R2dbcIdempotencyStore upkeep;

	/**
	 * Creates the store.
	 * @param store for calls that have no claim yet, and may be many
	 * @param upkeep for those that renew or end a claim, which must not wait for the
	 * others
	 */
	BlockingR2dbcStore(R2dbcIdempotencyStore store, R2dbcIdempotencyStore upkeep) {
		this.store = store;
		this.upkeep = upkeep;
	}

	private <T> Optional<T> answer(Mono<T> call) {
		return answer(call, this.store.database().timeouts().call());
	}

	/**
	 * Waits for the result. The call itself ends in time, unless the caller blocks the
	 * thread that would end it. If the caller stopped waiting, the call continues, as if
	 * its reply were lost.
	 * @param most how long the call waits for a connection, and for the database
	 */
	static <T> Optional<T> answer(Mono<T> call, Duration most) {
		try {
			long longest = most.multipliedBy(2).plus(SPARE).toNanos();
			return Optional.ofNullable(call.toFuture().get(longest, TimeUnit.NANOSECONDS));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IdempotencyStoreException("The caller was interrupted while waiting for the database", ex);
		}
		catch (TimeoutException ex) {
			throw fromHere(new IdempotencyStoreException("The database call did not complete in time", ex));
		}
		catch (ExecutionException ex) {
			Throwable cause = ex.getCause();
			if (cause instanceof RuntimeException failure) {
				throw fromHere(failure);
			}
			if (cause instanceof Error error) {
				throw error;
			}
			throw new IdempotencyStoreException("The database failed", cause);
		}
	}

	private static RuntimeException fromHere(RuntimeException failure) {
		failure.addSuppressed(new IllegalStateException(Schedulers.isInNonBlockingThread()
				? "The caller waited here, on a non-blocking thread. The call cannot complete if the driver needs "
						+ "that thread. Return a Mono, or call on Schedulers.boundedElastic()"
				: "The caller waited here"));
		return failure;
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return answer(this.store.claim(request)).orElseThrow();
	}

	@Override
	public boolean complete(Completion completion) {
		return answer(this.upkeep.complete(completion)).orElseThrow();
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return answer(this.upkeep.release(key, claimId)).orElseThrow();
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return answer(this.upkeep.renew(key, claimId, lease)).orElseThrow();
	}

	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		return answer(this.upkeep.renewAll(renewals)).orElseThrow();
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		return answer(this.store.issue(token, timeToLive)).orElseThrow();
	}

	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return answer(this.store.find(key, fingerprint));
	}

	@Override
	public Optional<RecordAdmin> admin() {
		return Optional.of(RecordOperations.admin(this::rows));
	}

	@Override
	public String type() {
		return "r2dbc";
	}

	private <T> T rows(String what, Function<RecordOperations, SqlStep<T>> work) {
		R2dbcDatabase database = this.store.database();
		Duration lock = database.timeouts().lock();
		return answer(database.session(what, database.timeouts().call(), (dialect) -> database.lockWait(dialect, lock),
				(session) -> session.verb(work)))
			.orElseThrow();
	}

}
