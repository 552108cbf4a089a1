package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.idempotency.store.Causes;
import io.idempotency.store.redis.ScriptRunner.NotSentException;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisPipelineException;
import org.springframework.data.redis.connection.RedisScriptingCommands;

/**
 * Runs a script by its name. If the server does not know the script (after a restart, a
 * fail-over or a {@code SCRIPT FLUSH}), the text of the script is sent.
 */
final class RedisScripts {

	private RedisScripts() {
	}

	/**
	 * Returns whether Spring's connection takes a connection from a pool for each
	 * command, as it does with a newer Jedis. Then only a pipeline stays on one
	 * connection, and only a pipeline shows whether a failure came before the commands
	 * were sent.
	 */
	static boolean borrowsForEachCommand(RedisConnection connection) {
		return !(connection instanceof RedisClusterConnection) && isJedis(connection)
				&& !client(connection).endsWith(".Jedis");
	}

	/** Returns whether Jedis is below the connection, whoever has wrapped it. */
	static boolean isJedis(RedisConnection connection) {
		return client(connection).startsWith("redis.clients.jedis.");
	}

	/**
	 * Returns the class of the client, empty if there is none. In both supported lines of
	 * Spring Data, only this deprecated method shows it.
	 */
	@SuppressWarnings("deprecation")
	private static String client(RedisConnection connection) {
		Object client = connection.getNativeConnection();
		return (client != null) ? client.getClass().getName() : "";
	}

	@SuppressWarnings("unchecked")
	static <T> T run(RedisConnection connection, Verb verb, byte[][] keyAndArguments) {
		if (borrowsForEachCommand(connection)) {
			return RedisScripts.<T>runAll(connection, verb, Collections.singletonList(keyAndArguments)).get(0);
		}
		RedisScriptingCommands commands = connection.scriptingCommands();
		try {
			return commands.evalSha(verb.sha1(), verb.returnType(), 1, keyAndArguments);
		}
		catch (RuntimeException ex) {
			if (!isUnknownScript(ex)) {
				throw ex;
			}
			return commands.eval(verb.script(), verb.returnType(), 1, keyAndArguments);
		}
	}

	/**
	 * Runs a script for many keys in one round trip. A second round trip follows for the
	 * keys whose server did not know the script.
	 */
	@SuppressWarnings("unchecked")
	static <T> List<T> runAll(RedisConnection connection, Verb verb, List<byte[][]> keysAndArguments) {
		List<Object> replies = pipeline(connection, () -> {
			for (byte[][] keyAndArguments : keysAndArguments) {
				connection.scriptingCommands().evalSha(verb.sha1(), verb.returnType(), 1, keyAndArguments);
			}
		});
		List<Integer> unknown = new ArrayList<>();
		for (int i = 0; i < keysAndArguments.size(); i++) {
			if (replies.get(i) instanceof Throwable failure && isUnknownScript(failure)) {
				unknown.add(i);
			}
		}
		if (!unknown.isEmpty()) {
			List<Object> second;
			try {
				second = pipeline(connection, () -> {
					for (int i : unknown) {
						connection.scriptingCommands()
							.eval(verb.script(), verb.returnType(), 1, keysAndArguments.get(i));
					}
				});
			}
			catch (NotSentException ex) {
				throw (unknown.size() == keysAndArguments.size()) ? ex : ex.reason();
			}
			for (int i = 0; i < unknown.size(); i++) {
				replies.set(unknown.get(i), second.get(i));
			}
		}
		return replies.stream().map((reply) -> (T) value(reply)).toList();
	}

	private static List<Object> pipeline(RedisConnection connection, Runnable commands) {
		try {
			connection.openPipeline();
		}
		catch (RuntimeException ex) {
			throw new NotSentException(ex);
		}
		try {
			commands.run();
		}
		catch (RuntimeException ex) {
			try {
				connection.closePipeline();
			}
			catch (RuntimeException second) {
				ex.addSuppressed(second);
			}
			throw ex;
		}
		try {
			return new ArrayList<>(connection.closePipeline());
		}
		catch (RedisPipelineException ex) {
			// A command that failed has an exception in place of its reply; if the
			// connection broke, there are no replies.
			List<Object> replies = ex.getPipelineResult();
			if (replies == null || replies.isEmpty()) {
				throw ex;
			}
			return new ArrayList<>(replies);
		}
	}

	/**
	 * Returns a reply of a pipeline; a command that failed has an exception in place of
	 * its reply, which is thrown.
	 */
	private static Object value(Object reply) {
		if (reply instanceof RuntimeException failure) {
			throw failure;
		}
		return reply;
	}

	/**
	 * Finds the error code of the server in the messages, because the clients have no
	 * exception for it in common.
	 */
	private static boolean isUnknownScript(Throwable failure) {
		return Causes.of(failure)
			.anyMatch((cause) -> cause.getMessage() != null && cause.getMessage().contains("NOSCRIPT"));
	}

}
