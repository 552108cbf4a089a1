package io.idempotency.store.redis;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Runs the scripts of verbs. Thread-safe.
 */
interface ScriptRunner extends AutoCloseable {

	/**
	 * Runs a script.
	 * @param <T> the Java type of the verb's reply
	 * @param keyAndArguments the key, then the arguments
	 * @param deadline when to stop waiting, if the client lets the wait be bounded
	 * @return the reply
	 * @throws NotSentException if the script surely was not and will not be sent
	 */
	<T> T run(Verb verb, byte[][] keyAndArguments, Deadline deadline);

	/**
	 * Runs one script for many keys, in one round trip for each server if the client can
	 * do that.
	 * @param <T> the Java type of the verb's reply
	 * @param keysAndArguments the keys, each with its arguments
	 * @param deadline when to stop waiting, if the client lets the wait be bounded
	 * @return the replies, in the same order
	 * @throws NotSentException if surely no script was sent and none will be
	 */
	<T> List<T> runAll(Verb verb, List<byte[][]> keysAndArguments, Deadline deadline);

	/**
	 * Reads a value, on the master of its key: a replica may lag behind.
	 * @param deadline when to stop waiting, if the client lets the wait be bounded
	 * @return the value, {@code null} if there is none, or if nobody knows whether the
	 * client asks masters alone
	 * @throws NotSentException if the command surely was not and will not be sent
	 */
	byte @Nullable [] get(byte[] key, Deadline deadline);

	@Override
	void close();

	static ScriptRunner on(RedisConnectionFactory connectionFactory) {
		return isLettuce(connectionFactory) ? new LettuceScriptRunner(connectionFactory)
				: new SpringScriptRunner(connectionFactory);
	}

	/**
	 * Returns whether Lettuce makes the connections. Lettuce may be missing, so the class
	 * path is checked first.
	 */
	private static boolean isLettuce(RedisConnectionFactory connectionFactory) {
		return ClassUtils.isPresent("io.lettuce.core.RedisClient", ScriptRunner.class.getClassLoader())
				&& LettuceScriptRunner.isFor(connectionFactory);
	}

}
