package io.idempotency.store.jdbc;

/**
 * Opens the sessions in which the verbs run.
 */
interface SqlSessionSource {

	/**
	 * Opens a session.
	 * @param what the name of the verb
	 */
	SqlSession open(String what);

	/**
	 * Opens a session for a claim, which waits for a transaction that has claimed the
	 * key.
	 * @param alone whether the transaction ends if the claim fails or has waited too long
	 */
	SqlSession openClaim(boolean alone);

	/**
	 * Opens a session for a renewal, which never waits behind other verbs for a
	 * connection.
	 */
	SqlSession openRenewal();

}
