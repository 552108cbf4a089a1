package io.idempotency.autoconfigure;

/**
 * The place where records are kept.
 *
 * @since 0.1.0
 */
public enum StoreType {

	/**
	 * The store whose connection the application has; memory if it has none. If it has
	 * both Redis and a database, the start-up fails.
	 */
	AUTO,

	/** Redis or Valkey, shared by all nodes. */
	REDIS,

	/** A relational database over JDBC, shared by all nodes. */
	JDBC,

	/**
	 * A relational database over R2DBC, shared by all nodes. Requires
	 * {@code idempotency-r2dbc}.
	 */
	R2DBC,

	/** The heap of one JVM. */
	MEMORY

}
