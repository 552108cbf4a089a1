package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.List;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Runs scripts on whatever connection the factory gives, through nothing but Spring's
 * interfaces. They let nobody bound a wait, so that the time-outs of the client hold.
 */
final class SpringScriptRunner implements ScriptRunner {

	private final RedisConnectionFactory connectionFactory;

	SpringScriptRunner(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
	}

	/**
	 * Without a connection nothing is sent: the server is not there, or the pool is
	 * exhausted.
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
	 * In a cluster this is one round trip for each: Spring has no pipeline there.
	 */
	@Override
	public List<Long> runAll(Verb verb, List<byte[][]> keysAndArguments, Deadline deadline) {
		try (RedisConnection connection = connect(this.connectionFactory)) {
			if (!(connection instanceof RedisClusterConnection)) {
				return RedisScripts.runAll(connection, verb, keysAndArguments);
			}
			List<Long> replies = new ArrayList<>(keysAndArguments.size());
			for (byte[][] keyAndArguments : keysAndArguments) {
				if (deadline.isOver()) {
					throw new QueryTimeoutException(
							"Only " + replies.size() + " of " + keysAndArguments.size() + " in time");
				}
				Long reply = RedisScripts.run(connection, verb, keyAndArguments);
				replies.add(reply);
			}
			return replies;
		}
	}

	@Override
	public void close() {
		// Nothing is kept.
	}

}
