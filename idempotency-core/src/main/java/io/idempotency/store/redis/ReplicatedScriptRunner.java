package io.idempotency.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;

import io.idempotency.store.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Lets a claim or a completion count only when enough replicas have it. A claim that they
 * do not have in time is released, so that nobody finds it live; a completion is left for
 * its repetition, which is written once more and waited for again.
 * <p>
 * What a server lost in a fail-over between script and {@code WAIT} is not noticed: the
 * wait is then answered by the new master, for nothing.
 */
final class ReplicatedScriptRunner implements ScriptRunner {

	private static final int MAX_KEPT = 16;

	private final RedisConnectionFactory connectionFactory;

	private final ScriptRunner shared;

	private final int replicas;

	private final Duration timeout;

	private final ConcurrentLinkedDeque<OwnConnection> kept = new ConcurrentLinkedDeque<>();

	private final Semaphore places = new Semaphore(MAX_KEPT);

	ReplicatedScriptRunner(RedisConnectionFactory connectionFactory, int replicas, Duration timeout) {
		this.connectionFactory = connectionFactory;
		this.shared = new SharedScriptRunner(connectionFactory);
		this.replicas = replicas;
		this.timeout = timeout;
	}

	@Override
	public <T> T run(Verb verb, byte[][] keyAndArguments) {
		if (verb != Verb.CLAIM && verb != Verb.COMPLETE) {
			return this.shared.run(verb, keyAndArguments);
		}
		OwnConnection connection = take();
		boolean intact = false;
		try {
			T reply = connection.run(verb, keyAndArguments);
			if (hasWritten(reply)) {
				awaitReplicas(connection, verb, keyAndArguments);
			}
			intact = true;
			return reply;
		}
		finally {
			giveBack(connection, intact);
		}
	}

	private static boolean hasWritten(@Nullable Object reply) {
		if (reply instanceof List<?> answer) {
			return RedisReplies.isAcquired(answer);
		}
		return Long.valueOf(1).equals(reply);
	}

	private void awaitReplicas(OwnConnection connection, Verb verb, byte[][] keyAndArguments) {
		long count = connection.awaitReplicas(this.replicas, this.timeout.toMillis());
		if (count >= this.replicas) {
			return;
		}
		IdempotencyStoreException tooFew = new IdempotencyStoreException("Only " + count + " of " + this.replicas
				+ " Redis replicas have '" + verb + "' after " + this.timeout.toMillis() + " ms");
		if (verb == Verb.CLAIM) {
			releaseClaim(keyAndArguments, tooFew);
		}
		throw tooFew;
	}

	private void releaseClaim(byte[][] keyAndArguments, IdempotencyStoreException tooFew) {
		try {
			this.shared.run(Verb.RELEASE, new byte[][] { keyAndArguments[0], keyAndArguments[1] });
		}
		catch (RuntimeException ex) {
			// The caller hears of a failed claim in any case, and gives it back by its
			// id.
			tooFew.addSuppressed(ex);
		}
	}

	private OwnConnection take() {
		OwnConnection connection = this.kept.pollFirst();
		if (connection == null) {
			return OwnConnection.open(this.connectionFactory);
		}
		this.places.release();
		return connection;
	}

	/**
	 * A connection whose reply is still to come must never be given to another caller.
	 */
	private void giveBack(OwnConnection connection, boolean intact) {
		if (intact && connection.isKept() && this.places.tryAcquire()) {
			this.kept.addFirst(connection);
		}
		else {
			connection.close();
		}
	}

	@Override
	public void close() {
		OwnConnection connection = this.kept.pollFirst();
		while (connection != null) {
			connection.close();
			connection = this.kept.pollFirst();
		}
	}

}
