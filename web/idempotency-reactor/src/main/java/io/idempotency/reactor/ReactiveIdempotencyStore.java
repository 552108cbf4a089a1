package io.idempotency.reactor;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A store with non-blocking operations. The operations and the state table are those of
 * {@link IdempotencyStore}.
 * <p>
 * Each subscription is one step. Nothing happens before the subscription. A failed step
 * signals an {@link IdempotencyStoreException}. A step may be applied even if its
 * subscription is cancelled. A step does not take longer than the timeout of the store.
 * Neither the methods nor a subscription blocks. Thread-safe.
 *
 * @since 0.1.0
 */
public interface ReactiveIdempotencyStore {

	/**
	 * Claims a key, as {@link IdempotencyStore#claim} does.
	 * @param request the request
	 * @return the result, never empty
	 */
	Mono<ClaimResult> claim(ClaimRequest request);

	/**
	 * Completes a claim, as {@link IdempotencyStore#complete} does.
	 * @param completion the completion of the claim
	 * @return whether the completion was accepted, never empty
	 */
	Mono<Boolean> complete(Completion completion);

	/**
	 * Releases a key, as {@link IdempotencyStore#release} does.
	 * @param key the key
	 * @param claimId the id of the claim
	 * @return whether the release was accepted, never empty
	 */
	Mono<Boolean> release(IdempotencyKey key, ClaimId claimId);

	/**
	 * Renews a claim for a whole lease from now, as {@link IdempotencyStore#renew} does.
	 * @param key the key
	 * @param claimId the id of the claim
	 * @param lease the duration of the lease
	 * @return whether the renewal was accepted, never empty
	 */
	Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease);

	/**
	 * Renews many claims, as {@link IdempotencyStore#renewAll} does. The default
	 * implementation renews one claim after the other.
	 * @param renewals the claims, each once
	 * @return the claims whose renewal was rejected, never empty
	 */
	default Mono<Set<ClaimId>> renewAll(Collection<Renewal> renewals) {
		return Flux.fromIterable(renewals)
			.concatMap((renewal) -> renew(renewal.key(), renewal.claimId(), renewal.lease())
				.filter((accepted) -> !accepted)
				.map((rejected) -> renewal.claimId()))
			.collect(Collectors.toSet());
	}

	/**
	 * Issues a token, as {@link IdempotencyStore#issue} does.
	 * @param token a key for which {@link IdempotencyKey#isToken()}
	 * @param timeToLive how long the token may be used
	 * @return when the token expires, by the store's clock, never empty
	 */
	Mono<Instant> issue(IdempotencyKey token, Duration timeToLive);

	/**
	 * Reads a result, as {@link IdempotencyStore#find} does. The default implementation
	 * finds nothing, so the following claim decides.
	 * @param key the key
	 * @param fingerprint the fingerprint that the claim would have
	 * @return the result that the claim would return, empty if none was found
	 */
	default Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return Mono.empty();
	}

	/**
	 * Returns the form of this store that takes part in the database transaction of its
	 * subscriber. A step fails with
	 * {@link io.idempotency.store.NoTransactionToJoinException} if the subscriber is not
	 * in a transaction of this store.
	 * @return the joining store, empty for a store that cannot join transactions
	 */
	default Optional<ReactiveIdempotencyStore> joining() {
		return Optional.empty();
	}

	/**
	 * Returns the blocking store of the same records. Calls refer to their store by it.
	 * The threads of the library use it for renewals and repeated writes, and operators
	 * use it.
	 * @return the store, the same for each call
	 */
	IdempotencyStore blocking();

}
