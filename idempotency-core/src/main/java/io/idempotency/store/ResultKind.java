package io.idempotency.store;

/**
 * What a finished call has come to, as far as it matters to a store that has to make
 * room. A store that drops nothing before its time keeps all kinds alike, and every store
 * replays them alike.
 *
 * @since 0.1.0
 */
public enum ResultKind {

	/**
	 * The work was done: the last result to be dropped, and a tombstone stays for the
	 * whole retention.
	 */
	SUCCESS,

	/**
	 * The call failed, and its failure is to be remembered: dropped before results of
	 * successes, and a tombstone stays for the whole retention.
	 */
	FAILURE,

	/**
	 * The call was refused, so that nothing was done: dropped before all others. Nothing
	 * need stay of it; the call then runs again, as it does after a release. A record
	 * that was taken over from a dead owner is kept like a {@link #FAILURE}: what that
	 * owner has done is not known.
	 */
	REFUSAL

}
