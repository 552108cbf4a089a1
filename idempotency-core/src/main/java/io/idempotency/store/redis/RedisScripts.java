package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisPipelineException;
import org.springframework.data.redis.connection.RedisScriptingCommands;

/**
 * Runs a script by its name, and with its text where the server does not know it: after a
 * restart, a fail-over or a {@code SCRIPT FLUSH}.
 */
final class RedisScripts {

	private RedisScripts() {
	}

	/**
	 * Whether the connection takes one of the server's from a pool for each command, as
	 * Spring does with a newer Jedis. Only a pipeline then stays on one connection, and
	 * lets what fails before it was sent be told from what fails later.
	 */
	@SuppressWarnings("deprecation")
	static boolean borrowsForEachCommand(RedisConnection connection) {
		// There is nothing else to tell it by in both lines of Spring Data.
		Object client = connection.getNativeConnection();
		if (client == null || connection instanceof RedisClusterConnection) {
			return false;
		}
		String name = client.getClass().getName();
		return name.startsWith("redis.clients.jedis.") && !name.equals("redis.clients.jedis.Jedis");
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
	 * Runs a script for many keys in one round trip, and in a second one for those that
	 * met a server that did not know it.
	 */
	static List<Long> runAll(RedisConnection connection, Verb verb, List<byte[][]> keysAndArguments) {
		return runAll(connection, verb, keysAndArguments, () -> {
		}).stream().map((reply) -> (Long) value(reply)).toList();
	}

	/**
	 * Runs a script and waits for replicas in the same round trip, whether it has written
	 * or not.
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
			// One that failed is an exception among the replies of the others; where the
			// line broke, there are none.
			List<Object> replies = ex.getPipelineResult();
			if (replies == null || replies.isEmpty()) {
				throw ex;
			}
			return new ArrayList<>(replies);
		}
	}

	/** What failed among others is an exception in the place of its reply. */
	static Object value(Object reply) {
		if (reply instanceof RuntimeException failure) {
			throw failure;
		}
		return reply;
	}

	/**
	 * The clients have no exception of their own for it in common, but the server's error
	 * code.
	 */
	private static boolean isUnknownScript(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause.getMessage() != null && cause.getMessage().contains("NOSCRIPT")) {
				return true;
			}
		}
		return false;
	}

}
