package io.idempotency.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;

import io.idempotency.store.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Lets a claim or a completion count only when enough replicas have it. A claim that too
 * few replicas have in time is released, so that later calls do not find it live. A
 * completion that too few replicas have in time stays; the engine repeats it, and the
 * repetition writes the record once more and waits again.
 * <p>
 * A write that is lost in a fail-over between script and {@code WAIT} is not noticed,
 * because the new master answers the {@code WAIT}.
 * <p>
 * The wait comes on top of the deadline of a call.
 */
final class ReplicatedScriptRunner implements ScriptRunner {

	private static final int MAX_KEPT = 16;

	private final RedisConnectionFactory connectionFactory;

	private final ScriptRunner shared;

	private final int replicas;

	private final Duration timeout;

	/** {@code null} if Lettuce is not on the class path. */
	private final @Nullable LettuceTopology topology;

	/**
	 * {@code null} if the client is not Lettuce: then the calling thread opens its
	 * connection, and only the client bounds how long that takes.
	 */
	private final @Nullable ConnectionOpener opener;

	private volatile boolean closed;

	private final ConcurrentLinkedDeque<OwnConnection> kept = new ConcurrentLinkedDeque<>();

	private final Semaphore places = new Semaphore(MAX_KEPT);

	ReplicatedScriptRunner(RedisConnectionFactory connectionFactory, int replicas, Duration timeout) {
		this.connectionFactory = connectionFactory;
		this.shared = ScriptRunner.on(connectionFactory);
		this.replicas = replicas;
		this.timeout = timeout;
		this.topology = ScriptRunner.hasLettuce() ? new LettuceTopology(connectionFactory) : null;
		this.opener = ScriptRunner.isLettuce(connectionFactory) ? new ConnectionOpener() : null;
	}

	@Override
	public <T> T run(Verb verb, byte[][] keyAndArguments, Deadline deadline) {
		if (verb != Verb.CLAIM && verb != Verb.COMPLETE) {
			return this.shared.run(verb, keyAndArguments, deadline);
		}
		OwnConnection connection = take(deadline);
		boolean intact = false;
		try {
			T reply = connection.run(verb, keyAndArguments, deadline);
			if (hasWritten(reply)) {
				awaitReplicas(connection, verb, keyAndArguments, deadline.plus(this.timeout));
			}
			intact = true;
			return reply;
		}
		finally {
			giveBack(connection, intact);
		}
	}

	@Override
	public <T> List<T> runAll(Verb verb, List<byte[][]> keysAndArguments, Deadline deadline) {
		return this.shared.runAll(verb, keysAndArguments, deadline);
	}

	@Override
	public byte @Nullable [] get(byte[] key, Deadline deadline) {
		return this.shared.get(key, deadline);
	}

	private static boolean hasWritten(@Nullable Object reply) {
		if (reply instanceof byte[] answer) {
			return RedisReplies.isAcquired(answer);
		}
		return Long.valueOf(1).equals(reply);
	}

	private void awaitReplicas(OwnConnection connection, Verb verb, byte[][] keyAndArguments, Deadline deadline) {
		long count = connection.awaitReplicas(this.replicas, this.timeout.toMillis(), deadline);
		if (count >= this.replicas) {
			return;
		}
		IdempotencyStoreException tooFew = new IdempotencyStoreException("Only " + count + " of " + this.replicas
				+ " Redis replicas have '" + verb + "' after " + this.timeout.toMillis() + " ms");
		if (verb == Verb.CLAIM) {
			releaseClaim(keyAndArguments, tooFew, deadline);
		}
		throw tooFew;
	}

	private void releaseClaim(byte[][] keyAndArguments, IdempotencyStoreException tooFew, Deadline deadline) {
		try {
			this.shared.run(Verb.RELEASE, new byte[][] { keyAndArguments[0], keyAndArguments[1] }, deadline);
		}
		catch (RuntimeException ex) {
			// The caller gets the failure of the claim in any case, and gives the claim
			// back by its id.
			tooFew.addSuppressed(ex);
		}
	}

	private OwnConnection take(Deadline deadline) {
		OwnConnection connection = this.kept.pollFirst();
		while (connection != null) {
			this.places.release();
			if (connection.isOpen()) {
				return connection;
			}
			// It connects again after a pause; a new one need not wait for that.
			connection.close();
			connection = this.kept.pollFirst();
		}
		return (this.opener != null) ? open(this.opener, deadline) : open();
	}

	private OwnConnection open(ConnectionOpener opener, Deadline deadline) {
		CompletableFuture<OwnConnection> opening = opener.start(this::open, OwnConnection::close);
		try {
			return ConnectionOpener.await(opening, deadline);
		}
		catch (NotSentException ex) {
			if (!opening.cancel(false)) {
				opening.thenAccept(OwnConnection::close);
			}
			throw ex;
		}
	}

	private OwnConnection open() {
		RedisConnection connection = SpringScriptRunner.connect(this.connectionFactory);
		try {
			if (this.topology != null && OwnConnection.isLettuce(connection)) {
				return new LettuceOwnConnection(connection, this.topology);
			}
			if (connection instanceof RedisClusterConnection) {
				throw new IdempotencyStoreException(
						"Only Lettuce can wait for replicas in a cluster, not " + connection.getClass().getName());
			}
			return RedisScripts.borrowsForEachCommand(connection)
					? new OwnConnection.PipelinedOwnConnection(connection, this.replicas, this.timeout.toMillis())
					: new OwnConnection.PooledOwnConnection(connection);
		}
		catch (RuntimeException ex) {
			connection.close();
			throw ex;
		}
	}

	/**
	 * Keeps or closes a connection. A connection with an outstanding reply must never be
	 * given to another caller, so it is closed.
	 */
	private void giveBack(OwnConnection connection, boolean intact) {
		if (intact && connection.isKept() && this.places.tryAcquire()) {
			this.kept.addFirst(connection);
			if (this.closed) {
				// Nobody would close what comes back during the close.
				closeKept();
			}
		}
		else {
			connection.close();
		}
	}

	@Override
	public void close() {
		this.closed = true;
		if (this.opener != null) {
			this.opener.close();
		}
		this.shared.close();
		closeKept();
	}

	private void closeKept() {
		OwnConnection connection = this.kept.pollFirst();
		while (connection != null) {
			connection.close();
			connection = this.kept.pollFirst();
		}
	}

}
