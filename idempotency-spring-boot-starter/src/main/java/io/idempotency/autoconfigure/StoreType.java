package io.idempotency.autoconfigure;

/**
 * Where records are kept.
 *
 * @since 0.1.0
 */
public enum StoreType {

	/** The store whose connection the application has; without any, in memory. */
	AUTO,

	/** Redis or Valkey, shared by all nodes. */
	REDIS,

	/** A relational database, shared by all nodes. */
	JDBC,

	/** The heap of one JVM. */
	MEMORY

}
