package io.idempotency;

/**
 * In which database transaction the record is written.
 *
 * @since 0.1.0
 */
public enum TransactionMode {

	/** In the store's own short transaction, outside the method's. */
	SEPARATE,

	/** In the same transaction as the method's work (JDBC store only). */
	JOIN

}
