package io.idempotency.store.jdbc;

/**
 * The transactions in which the verbs run.
 */
interface JdbcTransactions {

	/**
	 * Runs a verb.
	 * @param what the name of the verb
	 * @param verb the verb
	 */
	<T> T run(String what, SqlVerb<T> verb);

	/**
	 * Runs a claim, which waits for a transaction that has claimed the key.
	 */
	<T> T claim(SqlVerb<T> verb);

	/** Runs a renewal, which never waits behind other verbs for a connection. */
	<T> T renew(SqlVerb<T> verb);

}
