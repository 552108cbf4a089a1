package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.idempotency.store.Causes;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisPipelineException;
import org.springframework.data.redis.connection.RedisScriptingCommands;

/**
 * Runs scripts on any connection of the factory, through Spring's interfaces only. These
 * interfaces block and do not bound a wait, so the timeouts of the client apply.
 * <p>
 * A script is run by its name. If the server does not know it (after a restart, a
 * failover or a {@code SCRIPT FLUSH}), the text of the script is sent.
 */
final class SpringScriptRunner implements ScriptRunner {

	private final RedisConnectionFactory connectionFactory;

	SpringScriptRunner(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
	}

	/**
	 * Connects. If that fails (the server is unavailable, or the pool is exhausted),
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

	private <T> Pending<T> call(Function<RedisConnection, T> call) {
		try (RedisConnection connection = connect(this.connectionFactory)) {
			return Pending.of(call.apply(connection));
		}
	}

	@Override
	public <T> Pending<T> run(RedisScript verb, byte[][] keyAndArguments, Deadline deadline) {
		return call((connection) -> run(connection, verb, keyAndArguments));
	}

	/**
	 * Takes one round trip for each key in a cluster, because Spring has no pipeline
	 * there.
	 */
	@Override
	public <T> Pending<List<T>> runAll(RedisScript verb, List<byte[][]> keysAndArguments, Deadline deadline) {
		return call((connection) -> {
			if (!(connection instanceof RedisClusterConnection)) {
				return runAll(connection, verb, keysAndArguments);
			}
			List<T> replies = new ArrayList<>(keysAndArguments.size());
			for (byte[][] keyAndArguments : keysAndArguments) {
				if (deadline.isOver()) {
					throw new QueryTimeoutException(
							"Only " + replies.size() + " of " + keysAndArguments.size() + " replies arrived in time");
				}
				replies.add(SpringScriptRunner.<T>run(connection, verb, keyAndArguments));
			}
			return replies;
		});
	}

	/**
	 * Jedis reads from masters only. Another client may read from a replica, which may
	 * still have a record that was removed from its master. In that case, the claim does
	 * the lookup.
	 */
	@Override
	public Pending<byte @Nullable []> get(byte[] key, Deadline deadline) {
		return call((connection) -> isJedis(connection) ? connection.stringCommands().get(key) : null);
	}

	@Override
	public void close() {
		// This runner keeps no connections.
	}

	/** Returns whether Jedis is below the connection, also below a wrapper. */
	private static boolean isJedis(RedisConnection connection) {
		return client(connection).startsWith("redis.clients.jedis.");
	}

	/**
	 * Returns whether Spring's connection takes a connection from a pool for each
	 * command, as it does with a newer Jedis. In that case, only a pipeline stays on one
	 * connection, and only a pipeline shows whether a failure occurred before the
	 * commands were sent.
	 */
	private static boolean borrowsForEachCommand(RedisConnection connection) {
		return !(connection instanceof RedisClusterConnection) && isJedis(connection)
				&& !client(connection).endsWith(".Jedis");
	}

	/**
	 * Returns the class of the client, empty if it is unknown. In both supported lines of
	 * Spring Data, only this deprecated method returns it.
	 */
	@SuppressWarnings("deprecation")
	private static String client(RedisConnection connection) {
		Object client = connection.getNativeConnection();
		return (client != null) ? client.getClass().getName() : "";
	}

	@SuppressWarnings("unchecked")
	private static <T> T run(RedisConnection connection, RedisScript verb, byte[][] keyAndArguments) {
		if (borrowsForEachCommand(connection)) {
			return SpringScriptRunner.<T>runAll(connection, verb, List.<byte[][]>of(keyAndArguments)).get(0);
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
	 * keys whose server did not have the script.
	 */
	@SuppressWarnings("unchecked")
	private static <T> List<T> runAll(RedisConnection connection, RedisScript verb, List<byte[][]> keysAndArguments) {
		List<Object> replies = pipeline(connection, (commands) -> keysAndArguments
			.forEach((arguments) -> commands.evalSha(verb.sha1(), verb.returnType(), 1, arguments)));
		List<Integer> unknown = IntStream.range(0, replies.size())
			.filter((i) -> replies.get(i) instanceof Throwable failure && isUnknownScript(failure))
			.boxed()
			.toList();
		if (!unknown.isEmpty()) {
			try {
				List<Object> second = pipeline(connection, (commands) -> unknown
					.forEach((i) -> commands.eval(verb.script(), verb.returnType(), 1, keysAndArguments.get(i))));
				IntStream.range(0, second.size()).forEach((i) -> replies.set(unknown.get(i), second.get(i)));
			}
			catch (NotSentException ex) {
				throw (unknown.size() == keysAndArguments.size()) ? ex : ex.reason();
			}
		}
		for (Object reply : replies) {
			if (reply instanceof RuntimeException failure) {
				throw failure;
			}
		}
		return (List<T>) replies;
	}

	/**
	 * Returns the replies; a failed command has an exception in place of its reply.
	 */
	private static List<Object> pipeline(RedisConnection connection, Consumer<RedisScriptingCommands> calls) {
		try {
			connection.openPipeline();
		}
		catch (RuntimeException ex) {
			throw new NotSentException(ex);
		}
		List<Object> replies = new ArrayList<>();
		try {
			calls.accept(connection.scriptingCommands());
		}
		finally {
			replies.addAll(closePipeline(connection));
		}
		return replies;
	}

	private static List<Object> closePipeline(RedisConnection connection) {
		try {
			return connection.closePipeline();
		}
		catch (RedisPipelineException ex) {
			// Without a connection, the exception has no replies.
			List<Object> replies = ex.getPipelineResult();
			if (replies == null || replies.isEmpty()) {
				throw ex;
			}
			return replies;
		}
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
