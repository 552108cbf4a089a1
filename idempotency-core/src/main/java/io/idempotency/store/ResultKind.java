package io.idempotency.store;

/**
 * How a finished call ended, as far as a store that has to make room needs to know. Every
 * store replays all kinds alike, and a store that drops nothing before its time also
 * keeps all kinds alike.
 *
 * @since 0.1.0
 */
public enum ResultKind {

	/**
	 * The work was done. Such a result is dropped last, and a tombstone stays for the
	 * whole retention.
	 */
	SUCCESS,

	/**
	 * The call failed, and its failure is to be remembered. Such a result is dropped
	 * before the results of successes, and a tombstone stays for the whole retention.
	 */
	FAILURE,

	/**
	 * The call was rejected, so nothing was done. Such a result is dropped before all
	 * others, and the whole record may be forgotten; the call then runs again, as it does
	 * after a release. If the record was taken over from a dead owner, the work of that
	 * owner is not known, so the record is kept like a {@link #FAILURE}.
	 */
	REJECTION

}
