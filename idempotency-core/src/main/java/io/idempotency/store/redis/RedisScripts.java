package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.List;

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

	static <T> T run(RedisScriptingCommands commands, Verb verb, byte[][] keyAndArguments) {
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
		List<Object> replies = pipeline(connection, () -> {
			for (byte[][] keyAndArguments : keysAndArguments) {
				connection.scriptingCommands().evalSha(verb.sha1(), verb.returnType(), 1, keyAndArguments);
			}
		});
		List<Integer> unknown = new ArrayList<>();
		for (int i = 0; i < replies.size(); i++) {
			if (replies.get(i) instanceof Throwable failure && isUnknownScript(failure)) {
				unknown.add(i);
			}
		}
		if (!unknown.isEmpty()) {
			List<Object> second = pipeline(connection, () -> {
				for (int i : unknown) {
					connection.scriptingCommands().eval(verb.script(), verb.returnType(), 1, keysAndArguments.get(i));
				}
			});
			for (int i = 0; i < unknown.size(); i++) {
				replies.set(unknown.get(i), second.get(i));
			}
		}
		return replies.stream().map(RedisScripts::number).toList();
	}

	private static List<Object> pipeline(RedisConnection connection, Runnable commands) {
		connection.openPipeline();
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

	private static Long number(Object reply) {
		if (reply instanceof RuntimeException failure) {
			throw failure;
		}
		return (Long) reply;
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
