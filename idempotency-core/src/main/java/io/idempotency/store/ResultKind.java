package io.idempotency.store;

/**
 * How a call ended, for stores with a memory limit. Every store replays all kinds in the
 * same way. A store that never removes results early stores all kinds in the same way.
 *
 * @since 0.1.0
 */
public enum ResultKind {

	/**
	 * The work was done. The result is removed last. The record remains for the whole
	 * retention.
	 */
	SUCCESS,

	/**
	 * The call failed, and its failure is remembered. The result is removed before the
	 * results of successful calls. The record remains for the whole retention.
	 */
	FAILURE,

	/**
	 * The call was rejected, so nothing was done. The result is removed before all
	 * others. The whole record may be removed; the call can then run again, as after a
	 * release. If the record was taken over from a crashed owner, the work of that owner
	 * is unknown, so the record is stored like a {@link #FAILURE}.
	 */
	REJECTION

}
