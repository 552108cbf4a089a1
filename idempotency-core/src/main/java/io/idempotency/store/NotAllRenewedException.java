package io.idempotency.store;

import java.util.Set;

/**
 * Of many claims that were to be renewed together, some could not be: somebody else, a
 * console perhaps, holds their records locked. They are not lost and may be renewed once
 * more; all others were renewed or refused.
 *
 * @since 0.1.0
 */
public class NotAllRenewedException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	private final transient Set<ClaimId> notRenewed;

	private final transient Set<ClaimId> refused;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and what is wrong; never a key
	 * @param notRenewed the claims that were not renewed
	 * @param refused the claims that were refused
	 */
	public NotAllRenewedException(String message, Set<ClaimId> notRenewed, Set<ClaimId> refused) {
		super(message);
		this.notRenewed = Set.copyOf(notRenewed);
		this.refused = Set.copyOf(refused);
	}

	/**
	 * The claims that were neither renewed nor refused.
	 * @return the claims
	 */
	public Set<ClaimId> notRenewed() {
		return this.notRenewed;
	}

	/**
	 * The claims that were refused: they are lost, and that is final.
	 * @return the claims
	 */
	public Set<ClaimId> refused() {
		return this.refused;
	}

}
