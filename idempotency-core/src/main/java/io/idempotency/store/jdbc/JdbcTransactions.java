package io.idempotency.store.jdbc;

/**
 * In which transactions the verbs run.
 */
interface JdbcTransactions {

	/**
	 * Runs a verb.
	 * @param what its name
	 * @param verb the verb
	 */
	<T> T run(String what, SqlVerb<T> verb);

	/**
	 * Runs a claim, which waits for a transaction that has claimed the key.
	 */
	<T> T claim(SqlVerb<T> verb);

}
