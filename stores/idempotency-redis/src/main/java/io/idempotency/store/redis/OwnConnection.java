package io.idempotency.store.redis;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * A connection that no other caller uses meanwhile. So {@code WAIT} counts the replicas
 * that have the write of this caller, and delays no other caller. Not thread-safe.
 */
interface OwnConnection extends AutoCloseable {

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
	 * Waits until replicas have the last script that was run.
	 * @param replicas how many
	 * @param millis how long the server waits at most
	 * @param deadline when the server must have answered, if the client lets the wait be
	 * bounded
	 * @return how many replicas have it
	 */
	long awaitReplicas(int replicas, long millis, Deadline deadline);

	/** Returns whether a script that is sent now leaves now, as far as it is known. */
	default boolean isOpen() {
		return true;
	}

	/**
	 * Returns whether the connection is worth keeping for the next call, because no pool
	 * keeps it.
	 */
	boolean isKept();

	@Override
	void close();

	/**
	 * Returns whether the connection is one of Lettuce. The check goes by the name of the
	 * class, because Lettuce may be missing.
	 */
	static boolean isLettuce(RedisConnection connection) {
		return connection.getClass().getName().startsWith("org.springframework.data.redis.connection.lettuce.");
	}

	private static long count(@Nullable Object reply) {
		if (!(reply instanceof Long count)) {
			throw new IllegalStateException("Not a reply of WAIT: " + reply);
		}
		return count;
	}

	/**
	 * A connection of a client that lends each caller one of its own.
	 */
	final class PooledOwnConnection implements OwnConnection {

		private final RedisConnection connection;

		PooledOwnConnection(RedisConnection connection) {
			this.connection = connection;
		}

		@Override
		public <T> T run(Verb verb, byte[][] keyAndArguments, Deadline deadline) {
			return RedisScripts.run(this.connection, verb, keyAndArguments);
		}

		@Override
		public long awaitReplicas(int replicas, long millis, Deadline deadline) {
			Object reply = this.connection.execute("WAIT", RedisValues.of(replicas), RedisValues.of(millis));
			return count(reply);
		}

		@Override
		public boolean isKept() {
			return false;
		}

		@Override
		public void close() {
			this.connection.close();
		}

	}

	/**
	 * A connection of a client that lends a connection of the server for each command. So
	 * script and {@code WAIT} are sent together in one pipeline: on another connection
	 * the server would count the replicas that have the write of another caller. A script
	 * that has written nothing then waits for the earlier writes of the connection.
	 */
	final class PipelinedOwnConnection implements OwnConnection {

		private final RedisConnection connection;

		private final int replicas;

		private final long millis;

		private @Nullable Object waited;

		PipelinedOwnConnection(RedisConnection connection, int replicas, long millis) {
			this.connection = connection;
			this.replicas = replicas;
			this.millis = millis;
		}

		@Override
		@SuppressWarnings("unchecked")
		public <T> T run(Verb verb, byte[][] keyAndArguments, Deadline deadline) {
			List<Object> replies = RedisScripts.runAndWait(this.connection, verb, keyAndArguments, this.replicas,
					this.millis);
			this.waited = replies.get(1);
			return (T) RedisScripts.value(replies.get(0));
		}

		@Override
		public long awaitReplicas(int replicas, long millis, Deadline deadline) {
			return count((this.waited != null) ? RedisScripts.value(this.waited) : null);
		}

		@Override
		public boolean isKept() {
			return false;
		}

		@Override
		public void close() {
			this.connection.close();
		}

	}

}
