package io.idempotency.engine;

import io.idempotency.Internal;

/**
 * The end of a database transaction.
 *
 * @hidden
 */
@Internal
public enum TransactionOutcome {

	/** All changes of the transaction are there. */
	COMMITTED,

	/** No change of the transaction is there. */
	ROLLED_BACK,

	/** The reply to the commit was lost, so the end is not known. */
	UNKNOWN

}
