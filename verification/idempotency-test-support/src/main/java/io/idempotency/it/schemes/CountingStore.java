package io.idempotency.it.schemes;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Any store, with its round trips counted by verb, and owners that can be cut off: what
 * they look like to others who died.
 */
final class CountingStore extends ForwardingIdempotencyStore {

	private final Map<String, Integer> roundTrips = new ConcurrentHashMap<>();

	private final List<ClaimRequest> claims = new CopyOnWriteArrayList<>();

	private final Set<ClaimId> cutOff = ConcurrentHashMap.newKeySet();

	private volatile boolean nextOwnerIsCutOff;

	private volatile @Nullable ClaimRequest lost;

	CountingStore(IdempotencyStore delegate) {
		super(delegate);
	}

	/** The round trips of a call, of which renewals are none of its own. */
	Map<String, Integer> roundTripsOf(Runnable call) {
		this.roundTrips.clear();
		call.run();
		Map<String, Integer> counted = Map.copyOf(this.roundTrips);
		this.roundTrips.clear();
		return counted;
	}

	int renewals() {
		return this.roundTrips.getOrDefault("renew", 0);
	}

	ClaimRequest lastClaim() {
		return this.claims.get(this.claims.size() - 1);
	}

	/** The next owner cannot renew its claim. */
	void cutNextOwnerOff() {
		this.nextOwnerIsCutOff = true;
	}

	/** The lease of the owner that was cut off is over, and its store knows it. */
	void endLease() {
		ClaimRequest claim = Objects.requireNonNull(this.lost);
		assertThat(super.renew(claim.key(), claim.claimId(), Duration.ofNanos(1000))).isTrue();
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		count("claim");
		this.claims.add(request);
		ClaimResult result = super.claim(request);
		if (this.nextOwnerIsCutOff && result instanceof ClaimResult.Acquired) {
			this.nextOwnerIsCutOff = false;
			this.cutOff.add(request.claimId());
			this.lost = request;
		}
		return result;
	}

	/** Each call claims, so that what it costs is counted on every store alike. */
	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return Optional.empty();
	}

	@Override
	public boolean complete(Completion completion) {
		count("complete");
		return super.complete(completion);
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		count("release");
		return super.release(key, claimId);
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		if (this.cutOff.contains(claimId)) {
			throw new IdempotencyStoreException("cut off");
		}
		count("renew");
		return super.renew(key, claimId, lease);
	}

	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		return renewals.stream()
			.filter((renewal) -> !renew(renewal.key(), renewal.claimId(), renewal.lease()))
			.map(Renewal::claimId)
			.collect(Collectors.toSet());
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		count("issue");
		return super.issue(token, timeToLive);
	}

	private void count(String verb) {
		this.roundTrips.merge(verb, 1, Integer::sum);
	}

}
