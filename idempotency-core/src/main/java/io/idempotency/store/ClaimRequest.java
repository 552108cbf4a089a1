package io.idempotency.store;

import java.time.Duration;
import java.util.Objects;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;

/**
 * A request for the right to run.
 *
 * @param key the key
 * @param claimId the id of the claim; a repeated request has the same claim id
 * @param fingerprint the digest of the values that must be equal on a retry
 * @param type the type of the claim
 * @param lease the time for which the claim is valid without renewal;
 * {@link ClaimType#ONCE} ignores it
 * @param retention the retention of the record; it starts with the claim until the claim
 * is completed, and is never shorter than the remaining lease
 * @param takeOver whether a claim with an expired lease may be taken over
 * @param origin the origin of the claim, for operators
 * @param newTransaction whether the transaction that the claim
 * {@linkplain IdempotencyStore#joining() joins} was begun for it; if the claim fails or
 * is {@link ClaimResult.InProgress}, that transaction is rolled back, so it need not
 * remain usable
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
	 * @param claimId the id of the claim
	 * @param fingerprint the digest of the values that must be equal on a retry
	 * @param type the type of the claim
	 * @param lease the time for which the claim is valid without renewal
	 * @param retention the retention of the record
	 * @param takeOver whether a claim with an expired lease may be taken over
	 * @param origin where the claim comes from
	 */
	public ClaimRequest(IdempotencyKey key, ClaimId claimId, Fingerprint fingerprint, ClaimType type, Duration lease,
			Duration retention, boolean takeOver, ClaimOrigin origin) {
		this(key, claimId, fingerprint, type, lease, retention, takeOver, origin, false);
	}

	/**
	 * Creates a request for a new leased claim that may take over, has no fingerprint,
	 * and has an {@linkplain ClaimOrigin#UNKNOWN unknown origin}.
	 * @param key the key
	 * @param lease the time for which the claim is valid without renewal
	 * @param retention the retention of the record
	 * @return the request, with a random claim id
	 */
	public static ClaimRequest of(IdempotencyKey key, Duration lease, Duration retention) {
		return new ClaimRequest(key, ClaimId.random(), Fingerprint.NONE, ClaimType.LEASED, lease, retention, true,
				ClaimOrigin.UNKNOWN);
	}

	/**
	 * Returns this request with another claim id.
	 * @param value the id of the claim
	 * @return the changed request
	 */
	public ClaimRequest withClaimId(ClaimId value) {
		return new ClaimRequest(this.key, value, this.fingerprint, this.type, this.lease, this.retention, this.takeOver,
				this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with another fingerprint.
	 * @param value the digest of the values that must be equal on a retry
	 * @return the changed request
	 */
	public ClaimRequest withFingerprint(Fingerprint value) {
		return new ClaimRequest(this.key, this.claimId, value, this.type, this.lease, this.retention, this.takeOver,
				this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with another type of claim.
	 * @param value the type of the claim
	 * @return the changed request
	 */
	public ClaimRequest withType(ClaimType value) {
		return new ClaimRequest(this.key, this.claimId, this.fingerprint, value, this.lease, this.retention,
				this.takeOver, this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with another lease.
	 * @param value the time for which the claim is valid without renewal
	 * @return the changed request
	 */
	public ClaimRequest withLease(Duration value) {
		return new ClaimRequest(this.key, this.claimId, this.fingerprint, this.type, value, this.retention,
				this.takeOver, this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with another retention.
	 * @param value the retention of the record
	 * @return the changed request
	 */
	public ClaimRequest withRetention(Duration value) {
		return new ClaimRequest(this.key, this.claimId, this.fingerprint, this.type, this.lease, value, this.takeOver,
				this.origin, this.newTransaction);
	}

	/**
	 * Returns this request with or without the right to take over.
	 * @param value whether a claim with an expired lease may be taken over
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
