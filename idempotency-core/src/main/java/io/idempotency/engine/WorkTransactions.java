package io.idempotency.engine;

import io.idempotency.Internal;

/**
 * The database transactions of the application, in which the records of operations with
 * {@link io.idempotency.TransactionMode#JOIN} are written: those of threads, or those of
 * another style of calling, which its driver knows.
 *
 * @hidden
 */
@Internal
public interface WorkTransactions {

}
