package io.idempotency.store;

import java.util.Set;

/**
 * Thrown if some claims of a batch could not be renewed, because another session (for
 * example a console) locks their records. These claims are not lost and can be renewed
 * again. All other claims were renewed or rejected.
 *
 * @since 0.1.0
 */
public class NotAllRenewedException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	private final transient Set<ClaimId> notRenewed;

	private final transient Set<ClaimId> rejected;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and the problem, without the key
	 * @param notRenewed the claims that were not renewed
	 * @param rejected the claims that were rejected
	 */
	public NotAllRenewedException(String message, Set<ClaimId> notRenewed, Set<ClaimId> rejected) {
		super(message);
		this.notRenewed = Set.copyOf(notRenewed);
		this.rejected = Set.copyOf(rejected);
	}

	/**
	 * Returns the claims that were neither renewed nor rejected.
	 * @return the claims
	 */
	public Set<ClaimId> notRenewed() {
		return this.notRenewed;
	}

	/**
	 * Returns the claims that were rejected. They are lost; this is final.
	 * @return the claims
	 */
	public Set<ClaimId> rejected() {
		return this.rejected;
	}

}
