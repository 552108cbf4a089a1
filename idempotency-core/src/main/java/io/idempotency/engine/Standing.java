package io.idempotency.engine;

/** Where the claim stands towards the transaction of its call. */
enum Standing {

	/**
	 * The call is in no transaction, or the surrounding one was committed: endings are
	 * carried out at once.
	 */
	FREE,

	/** The call is in a surrounding transaction, and the record is apart from it. */
	SURROUNDED,

	/**
	 * The surrounding transaction was rolled back, and the work of the call with it.
	 */
	UNDONE,

	/** The record is written in the transaction of the work. */
	JOINED,

	/**
	 * The record is written and committed: a failure does not release it any more.
	 */
	COMMITTED,

	/**
	 * The transaction was rolled back together with the record. The ending is written
	 * anew, unless it is a release.
	 */
	GONE,

	/**
	 * The transaction was rolled back together with the record after the work had
	 * returned: nothing is written.
	 */
	GONE_FOR_GOOD,

	/** The end of the transaction is not known. */
	UNKNOWN

}
