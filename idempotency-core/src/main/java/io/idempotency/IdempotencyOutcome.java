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
	 * The call was rejected in mode {@code REJECT}, because a call with this key came
	 * before.
	 */
	DUPLICATE,

	/** The call was rejected because the first call still runs. */
	IN_PROGRESS,

	/** The call was rejected because its key was used with another fingerprint. */
	KEY_REUSED,

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

	/** The call was rejected because its token is unknown. */
	TOKEN_UNKNOWN,

	/** The call was rejected because the first call completed without a stored result. */
	RESULT_UNAVAILABLE,

	/** The call was rejected because the process of the first call crashed. */
	OUTCOME_UNKNOWN,

	/** The call was rejected with {@link IdempotencyStoreUnavailableException}. */
	STORE_UNAVAILABLE,

	/**
	 * The end of the work is not visible: the caller has a response while the work may
	 * still act, or the end of the transaction is unknown. The key stays claimed until
	 * the lease expires.
	 */
	INDETERMINATE;

	private final String value = name().toLowerCase(Locale.ROOT).replace('_', '-');

	/**
	 * Returns the outcome as it stands in metrics, for example {@code in-progress}.
	 * @return the value
	 */
	public String value() {
		return this.value;
	}

}
