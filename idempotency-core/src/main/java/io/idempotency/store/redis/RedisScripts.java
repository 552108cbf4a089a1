package io.idempotency.store.redis;

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
