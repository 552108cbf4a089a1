package io.idempotency;

/**
 * The database transaction in which the record is written.
 *
 * @since 0.1.0
 */
public enum TransactionMode {

	/**
	 * The record is written in a short transaction of the store, outside the transaction
	 * of the method.
	 */
	SEPARATE,

	/**
	 * The record is written in the transaction of the method, which must use the database
	 * of the store: over JDBC or, for reactive results, over R2DBC.
	 */
	JOIN

}
