package io.idempotency;

import java.util.Locale;

/**
 * The outcome of a guarded call, for metrics and traces. Each call has exactly one
 * outcome.
 *
 * @since 0.1.0
 */
public enum IdempotencyOutcome {

	/**
	 * The call ran and did not fail. Its completion is stored, or the write is retried
	 * until it is stored.
	 */
	EXECUTED,

	/** The call returned the result of the first call. */
	REPLAYED,

	/** The call returned a result that was looked up in the business data. */
	RECOVERED,

	/**
	 * The call was rejected in mode {@code REJECT}, because a call with this key was
	 * received before.
	 */
	DUPLICATE,

	/** The call was rejected because the first call is in progress. */
	IN_PROGRESS,

	/** The call was rejected because its key was used with another fingerprint. */
	KEY_REUSED,

	/**
	 * The call ran and failed. Its key was released, or its failure is remembered.
	 */
	FAILED,

	/**
	 * The key was released, and the call itself did not fail. The application requested
	 * the release, the call was not executed, or the surrounding transaction was rolled
	 * back.
	 */
	RELEASED,

	/**
	 * The call ran, but lost its claim before it completed, so the store rejected the
	 * completion. Another call with this key may also have run.
	 */
	LEASE_LOST,

	/** The store was unavailable, so the call ran unguarded. */
	UNGUARDED,

	/** The call was rejected because its token is unknown. */
	TOKEN_UNKNOWN,

	/** The call was rejected because the first call completed without a stored result. */
	RESULT_UNAVAILABLE,

	/** The call was rejected because the process of the first call crashed. */
	OUTCOME_UNKNOWN,

	/** The call was rejected with {@link IdempotencyStoreUnavailableException}. */
	STORE_UNAVAILABLE,

	/**
	 * The end of the work is not visible. The caller received a response while the work
	 * may still be in progress, or the outcome of the transaction is unknown. The key
	 * stays claimed until the lease expires.
	 */
	INDETERMINATE;

	private final String value = name().toLowerCase(Locale.ROOT).replace('_', '-');

	/**
	 * Returns the outcome as used in metrics, for example {@code in-progress}.
	 * @return the value
	 */
	public String value() {
		return this.value;
	}

}
