package io.idempotency.store.redis;

/**
 * Runs the script of a verb. Thread-safe.
 */
interface ScriptRunner extends AutoCloseable {

	/**
	 * Runs a script.
	 * @param <T> what the return type of the verb becomes in Java
	 * @param verb the verb
	 * @param keyAndArguments the key, then the arguments
	 * @return the reply
	 */
	<T> T run(Verb verb, byte[][] keyAndArguments);

	@Override
	void close();

}
