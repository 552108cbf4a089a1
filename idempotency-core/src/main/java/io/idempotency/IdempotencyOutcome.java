package io.idempotency;

import java.util.Locale;

/**
 * How one guarded call has ended, for metrics and traces. Each call has exactly one
 * outcome.
 *
 * @since 0.1.0
 */
public enum IdempotencyOutcome {

	/**
	 * The call ran and has not failed. The store has taken its end, or is asked again
	 * until it does.
	 */
	EXECUTED,

	/** The call got the result of the first call. */
	REPLAYED,

	/** The call got a result that was looked up in the business data. */
	RECOVERED,

	/**
	 * The call was refused in mode {@code REJECT}, because a call with this key came
	 * before.
	 */
	REJECTED,

	/** The call was refused because the first call still runs. */
	IN_PROGRESS,

	/** The call was refused because its key was used with another fingerprint. */
	MISMATCH,

	/**
	 * The call ran and has failed: its key is free again, or its failure is remembered.
	 */
	FAILED,

	/**
	 * The key is free again, and the call itself has not failed: the application asked
	 * for the release, nothing ran, or the surrounding transaction was rolled back.
	 */
	RELEASED,

	/**
	 * The call ran, but had lost its claim before its end, so the store did not accept
	 * the end: another call may have run, too.
	 */
	LEASE_LOST,

	/** The store could not be reached, so the call ran unguarded. */
	UNGUARDED,

	/**
	 * The call was refused for another reason: the first call is done and its result was
	 * not kept, its outcome is unknown, or the token of this call is unknown.
	 */
	REFUSED,

	/** The call was refused with {@link IdempotencyStoreUnavailableException}. */
	STORE_ERROR,

	/**
	 * The caller was answered while the work may still act, or nobody knows how the
	 * transaction has ended: the claim is left to its lease.
	 */
	ABANDONED;

	private final String value = name().toLowerCase(Locale.ROOT).replace('_', '-');

	/**
	 * Returns the outcome as it stands in metrics, for example {@code in-progress}.
	 * @return the value
	 */
	public String value() {
		return this.value;
	}

}
