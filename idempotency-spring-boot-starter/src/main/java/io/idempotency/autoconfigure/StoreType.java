package io.idempotency.autoconfigure;

/**
 * The store of the records.
 *
 * @since 0.1.0
 */
public enum StoreType {

	/**
	 * The store whose connection the application has; memory if it has no connection. If
	 * it has both Redis and a database, startup fails.
	 */
	AUTO,

	/** Redis or Valkey, shared by all nodes. */
	REDIS,

	/**
	 * A relational database, shared by all nodes: over JDBC, or with
	 * {@code idempotency-r2dbc} over R2DBC if the application has no {@code DataSource}.
	 */
	JDBC,

	/** The heap of one JVM. */
	MEMORY

}
