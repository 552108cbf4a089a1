package io.idempotency.store;

import java.time.Duration;
import java.util.Objects;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;

/**
 * A request for the right to run.
 *
 * @param key the key
 * @param claimId whose claim it is; a request that is sent once more has the same claim
 * id
 * @param fingerprint what must be equal on a retry
 * @param type what kind of claim
 * @param lease how long the claim lives unless renewed; {@link ClaimType#ONCE} ignores it
 * @param retention how long the record is kept: it counts from the claim until the claim
 * is completed, and is never shorter than the rest of the lease
 * @param takeOver whether a claim whose lease is over may be taken over
 * @param origin where the claim comes from, for people who look at the record
 * @param newTransaction whether the transaction that the claim
 * {@linkplain IdempotencyStore#joining() joins} was begun for it. If the claim fails or
 * is {@link ClaimResult.InProgress}, that transaction is rolled back, so a store need not
 * leave it usable
 * @since 0.1.0
 */
public record ClaimRequest(IdempotencyKey key, ClaimId claimId, Fingerprint fingerprint, ClaimType type, Duration lease,
		Duration retention, boolean takeOver, ClaimOrigin origin, boolean newTransaction) {

	/**
	 * Validates the components.
	 */
	public ClaimRequest {
		Objects.requireNonNull(key, "key");
		Objects.requireNonNull(claimId, "claimId");
		Objects.requireNonNull(fingerprint, "fingerprint");
		Objects.requireNonNull(type, "type");
		Objects.requireNonNull(origin, "origin");
		requirePositive("lease", lease);
		requirePositive("retention", retention);
	}

	static void requirePositive(String name, Duration duration) {
		if (duration.isZero() || duration.isNegative()) {
			throw new IllegalArgumentException(name + " must be positive, not " + duration);
		}
	}

	/**
	 * Creates a request without a transaction that was begun for it.
	 * @param key the key
	 * @param claimId whose claim it is
	 * @param fingerprint what must be equal on a retry
	 * @param type what kind of claim
	 * @param lease how long the claim lives unless renewed
	 * @param retention how long the record is kept
	 * @param takeOver whether a claim whose lease is over may be taken over
	 * @param origin where the claim comes from
	 */
	public ClaimRequest(IdempotencyKey key, ClaimId claimId, Fingerprint fingerprint, ClaimType type, Duration lease,
			Duration retention, boolean takeOver, ClaimOrigin origin) {
		this(key, claimId, fingerprint, type, lease, retention, takeOver, origin, false);
	}

	/**
	 * Creates a request of a new claim: it is leased, may take over, compares nothing,
	 * and is of {@linkplain ClaimOrigin#UNKNOWN unknown origin}.
	 * @param key the key
	 * @param lease how long the claim lives unless renewed
	 * @param retention how long the record is kept
	 * @return the request, with a random claim id
	 */
	public static ClaimRequest of(IdempotencyKey key, Duration lease, Duration retention) {
		return new ClaimRequest(key, ClaimId.random(), Fingerprint.NONE, ClaimType.LEASED, lease, retention, true,
				ClaimOrigin.UNKNOWN);
	}

	/**
	 * Returns this request as that of another claim.
	 * @param value whose claim it is
	 * @return the changed request
	 */
	public ClaimRequest withClaimId(ClaimId value) {
		return new ClaimRequest(this.key, value, this.fingerprint, this.type, this.lease, this.retention, this.takeOver,
				this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with another fingerprint.
	 * @param value what must be equal on a retry
	 * @return the changed request
	 */
	public ClaimRequest withFingerprint(Fingerprint value) {
		return new ClaimRequest(this.key, this.claimId, value, this.type, this.lease, this.retention, this.takeOver,
				this.origin, this.newTransaction);
	}

	/**
	 * Returns this request as one for another kind of claim.
	 * @param value what kind of claim
	 * @return the changed request
	 */
	public ClaimRequest withType(ClaimType value) {
		return new ClaimRequest(this.key, this.claimId, this.fingerprint, value, this.lease, this.retention,
				this.takeOver, this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with another lease.
	 * @param value how long the claim lives unless renewed
	 * @return the changed request
	 */
	public ClaimRequest withLease(Duration value) {
		return new ClaimRequest(this.key, this.claimId, this.fingerprint, this.type, value, this.retention,
				this.takeOver, this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with another retention.
	 * @param value how long the record is kept
	 * @return the changed request
	 */
	public ClaimRequest withRetention(Duration value) {
		return new ClaimRequest(this.key, this.claimId, this.fingerprint, this.type, this.lease, value, this.takeOver,
				this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with or without the right to take over.
	 * @param value whether a claim whose lease is over may be taken over
	 * @return the changed request
	 */
	public ClaimRequest withTakeOver(boolean value) {
		return new ClaimRequest(this.key, this.claimId, this.fingerprint, this.type, this.lease, this.retention, value,
				this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with another origin.
	 * @param value where the claim comes from
	 * @return the changed request
	 */
	public ClaimRequest withOrigin(ClaimOrigin value) {
		return new ClaimRequest(this.key, this.claimId, this.fingerprint, this.type, this.lease, this.retention,
				this.takeOver, value, this.newTransaction);
	}

	/**
	 * Returns this request with or without a transaction that was begun for the claim.
	 * @param value whether the transaction that the claim joins was begun for it
	 * @return the changed request
	 */
	public ClaimRequest withNewTransaction(boolean value) {
		return new ClaimRequest(this.key, this.claimId, this.fingerprint, this.type, this.lease, this.retention,
				this.takeOver, this.origin, value);
	}

}
