package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.List;

import io.idempotency.store.redis.ScriptRunner.Deadline;
import io.idempotency.store.redis.ScriptRunner.NotSentException;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Runs scripts on any connection of the factory, through Spring's interfaces only. These
 * interfaces have no bound for a wait, so the time-outs of the client hold.
 */
final class SpringScriptRunner implements ScriptRunner {

	private final RedisConnectionFactory connectionFactory;

	SpringScriptRunner(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
	}

	/**
	 * Connects. If that fails (the server is down, or the pool is exhausted), surely
	 * nothing was sent.
	 */
	static RedisConnection connect(RedisConnectionFactory connectionFactory) {
		try {
			return connectionFactory.getConnection();
		}
		catch (RuntimeException ex) {
			throw new NotSentException(ex);
		}
	}

	@Override
	public <T> T run(Verb verb, byte[][] keyAndArguments, Deadline deadline) {
		try (RedisConnection connection = connect(this.connectionFactory)) {
			return RedisScripts.run(connection, verb, keyAndArguments);
		}
	}

	/**
	 * Takes one round trip for each key in a cluster, because Spring has no pipeline
	 * there.
	 */
	@Override
	public <T> List<T> runAll(Verb verb, List<byte[][]> keysAndArguments, Deadline deadline) {
		try (RedisConnection connection = connect(this.connectionFactory)) {
			if (!(connection instanceof RedisClusterConnection)) {
				return RedisScripts.runAll(connection, verb, keysAndArguments);
			}
			List<T> replies = new ArrayList<>(keysAndArguments.size());
			for (byte[][] keyAndArguments : keysAndArguments) {
				if (deadline.isOver()) {
					throw new QueryTimeoutException(
							"Only " + replies.size() + " of " + keysAndArguments.size() + " in time");
				}
				T reply = RedisScripts.run(connection, verb, keyAndArguments);
				replies.add(reply);
			}
			return replies;
		}
	}

	/**
	 * Jedis reads from masters alone. Another client may ask a replica, which may still
	 * have what was removed from its master, so there the look is left to the claim.
	 */
	@Override
	public byte @Nullable [] get(byte[] key, Deadline deadline) {
		try (RedisConnection connection = connect(this.connectionFactory)) {
			return RedisScripts.isJedis(connection) ? connection.stringCommands().get(key) : null;
		}
	}

	@Override
	public void close() {
		// This runner keeps no connections.
	}

}
