package io.idempotency.store.redis;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Runs scripts on whatever connection the factory gives: with Lettuce the one that the
 * whole application shares, which no script holds up.
 */
final class SharedScriptRunner implements ScriptRunner {

	private final RedisConnectionFactory connectionFactory;

	SharedScriptRunner(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
	}

	@Override
	public <T> T run(Verb verb, byte[][] keyAndArguments) {
		try (RedisConnection connection = this.connectionFactory.getConnection()) {
			return RedisScripts.run(connection.scriptingCommands(), verb, keyAndArguments);
		}
	}

	@Override
	public void close() {
		// Nothing is kept.
	}

}
