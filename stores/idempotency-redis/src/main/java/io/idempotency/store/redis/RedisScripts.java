package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.idempotency.store.Causes;

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
			return (T) value(runAll(connection, verb, Collections.singletonList(keyAndArguments), () -> {
			}).get(0));
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
		return runAll(connection, verb, keysAndArguments, () -> {
		}).stream().map((reply) -> (T) value(reply)).toList();
	}

	/**
	 * Runs a script and waits for replicas in the same round trip, whether the script has
	 * written or not.
	 * @return the reply of the script, then how many replicas have the last write of this
	 * connection
	 */
	static List<Object> runAndWait(RedisConnection connection, Verb verb, byte[][] keyAndArguments, int replicas,
			long millis) {
		return runAll(connection, verb, Collections.singletonList(keyAndArguments),
				() -> connection.execute("WAIT", RedisValues.of(replicas), RedisValues.of(millis)));
	}

	private static List<Object> runAll(RedisConnection connection, Verb verb, List<byte[][]> keysAndArguments,
			Runnable afterwards) {
		List<Object> replies = pipeline(connection, () -> {
			for (byte[][] keyAndArguments : keysAndArguments) {
				connection.scriptingCommands().evalSha(verb.sha1(), verb.returnType(), 1, keyAndArguments);
			}
			afterwards.run();
		});
		List<Integer> unknown = new ArrayList<>();
		for (int i = 0; i < keysAndArguments.size(); i++) {
			if (replies.get(i) instanceof Throwable failure && isUnknownScript(failure)) {
				unknown.add(i);
			}
		}
		if (unknown.isEmpty()) {
			return replies;
		}
		List<Object> second;
		try {
			second = pipeline(connection, () -> {
				for (int i : unknown) {
					connection.scriptingCommands().eval(verb.script(), verb.returnType(), 1, keysAndArguments.get(i));
				}
				afterwards.run();
			});
		}
		catch (NotSentException ex) {
			throw (unknown.size() == keysAndArguments.size()) ? ex : ex.reason();
		}
		List<Object> all = new ArrayList<>(replies.subList(0, keysAndArguments.size()));
		for (int i = 0; i < unknown.size(); i++) {
			all.set(unknown.get(i), second.get(i));
		}
		all.addAll(second.subList(unknown.size(), second.size()));
		return all;
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
	static Object value(Object reply) {
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
