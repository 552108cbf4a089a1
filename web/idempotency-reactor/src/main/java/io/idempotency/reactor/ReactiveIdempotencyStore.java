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
 * A store that can be asked without blocking: the verbs of {@link IdempotencyStore}, with
 * the same table of states.
 * <p>
 * Each subscription is one step, and nothing happens before it. A step that fails is an
 * {@link IdempotencyStoreException} of the {@code Mono}; a step whose subscription is
 * cancelled may be applied all the same. No step takes longer than the store's time-out.
 * Neither the methods nor a subscription blocks. Thread-safe.
 *
 * @since 0.1.0
 */
public interface ReactiveIdempotencyStore {

	/**
	 * Asks for the right to run, as {@link IdempotencyStore#claim} does.
	 * @param request the request
	 * @return the response, never empty
	 */
	Mono<ClaimResult> claim(ClaimRequest request);

	/**
	 * Ends a claim, as {@link IdempotencyStore#complete} does.
	 * @param completion the end of the claim
	 * @return whether the completion was accepted, never empty
	 */
	Mono<Boolean> complete(Completion completion);

	/**
	 * Gives a claim back, as {@link IdempotencyStore#release} does.
	 * @param key the key
	 * @param claimId whose claim it is
	 * @return whether the release was accepted, never empty
	 */
	Mono<Boolean> release(IdempotencyKey key, ClaimId claimId);

	/**
	 * Lets a claim live for a whole lease from now, as {@link IdempotencyStore#renew}
	 * does.
	 * @param key the key
	 * @param claimId whose claim it is
	 * @param lease how long it lives
	 * @return whether the renewal was accepted, never empty
	 */
	Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease);

	/**
	 * Renews many claims, as {@link IdempotencyStore#renewAll} does. The default renews
	 * one claim after the other.
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
	 * Reads a result, as {@link IdempotencyStore#find} does. The default finds nothing: a
	 * claim decides.
	 * @param key the key
	 * @param fingerprint the fingerprint that the claim would have
	 * @return what the claim would be given, empty if none was found
	 */
	default Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return Mono.empty();
	}

	/**
	 * Returns the form of this store that takes part in the database transaction that its
	 * subscriber is in. A step fails with
	 * {@link io.idempotency.store.NoTransactionToJoinException} if there is none of this
	 * store's.
	 * @return the joining store, empty for a store that has no transaction to join
	 */
	default Optional<ReactiveIdempotencyStore> joining() {
		return Optional.empty();
	}

	/**
	 * Returns the same records for threads that may block. Calls name their store by this
	 * one; the library's own threads use it for renewals and for writes that are
	 * repeated, and operators use it.
	 * @return the store, the same for each call
	 */
	IdempotencyStore blocking();

}
