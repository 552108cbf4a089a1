package io.idempotency.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.StoredResult;
import io.idempotency.store.UnreadableRecordException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Keeps its records in Redis 6.2 or newer, or what speaks like it: standalone, Sentinel
 * or Cluster, through either client of Spring Data Redis.
 * <p>
 * Every verb is one Lua script over one key, so it is atomic, takes one round trip, and
 * works in a cluster. Time is the server's. Records expire by themselves: there is
 * nothing to clean up, and nothing is kept in this object but connections.
 * <p>
 * What survives is what the server keeps: one that loses its data, or fails over before a
 * write was replicated, forgets calls, and their duplicates run again. Against the first,
 * use an append-only file; against the second, {@code waitReplicas}. A server that evicts
 * keys forgets them too, see {@link #verify()}.
 * <p>
 * A call that the server does not answer fails after the store's time-out. Through
 * Lettuce that holds however long the client's own time-outs are, also while it is not
 * connected. Through Jedis nobody but the client can end a wait: its read time-out,
 * connect time-out and the wait of its pool hold, and {@link #verify()} logs a warning
 * where they are longer.
 *
 * @since 0.1.0
 */
public final class RedisIdempotencyStore implements IdempotencyStore, AutoCloseable {

	/** How the script begins an error that speaks of a record. */
	private static final String UNREADABLE = "IDEMPOTENCY ";

	/** How Redis says that something else than a record is in the place of it. */
	private static final String OTHER_TYPE = "WRONGTYPE";

	/** What the names of all records start with, unless one is given. */
	public static final String DEFAULT_KEY_PREFIX = "idempotency:";

	private final RedisConnectionFactory connectionFactory;

	private final RedisKeyspace keyspace;

	private final ScriptRunner scripts;

	private final int waitReplicas;

	private final Duration storeTimeout;

	/**
	 * Creates a store with the default prefix and a time-out of two seconds that does not
	 * wait for replicas.
	 * @param connectionFactory where connections come from
	 */
	public RedisIdempotencyStore(RedisConnectionFactory connectionFactory) {
		this(connectionFactory, DEFAULT_KEY_PREFIX, 0, Duration.ofSeconds(1), Duration.ofSeconds(2));
	}

	/**
	 * Creates a store. With replicas to wait for, a claim or a completion that too few of
	 * them have got in time is an {@link IdempotencyStoreException}, and such a claim is
	 * released.
	 * @param connectionFactory where connections come from
	 * @param keyPrefix what the names of all records start with
	 * @param waitReplicas how many replicas must have a claim or a completion before it
	 * counts, zero: none; in a cluster this needs Lettuce
	 * @param waitTimeout how long to wait for them, at least a millisecond; it comes on
	 * top of the store's time-out, and the read time-out of Jedis must be longer
	 * @param storeTimeout how long one call may take at most, at least a millisecond
	 */
	public RedisIdempotencyStore(RedisConnectionFactory connectionFactory, String keyPrefix, int waitReplicas,
			Duration waitTimeout, Duration storeTimeout) {
		if (waitReplicas < 0) {
			throw new IllegalArgumentException("waitReplicas must not be negative, but is " + waitReplicas);
		}
		if (waitTimeout.toMillis() < 1) {
			throw new IllegalArgumentException("waitTimeout must be at least a millisecond, not " + waitTimeout);
		}
		if (storeTimeout.toMillis() < 1) {
			throw new IllegalArgumentException("storeTimeout must be at least a millisecond, not " + storeTimeout);
		}
		this.connectionFactory = connectionFactory;
		this.keyspace = new RedisKeyspace(keyPrefix);
		this.waitReplicas = waitReplicas;
		this.storeTimeout = storeTimeout;
		this.scripts = (waitReplicas == 0) ? ScriptRunner.on(connectionFactory)
				: new ReplicatedScriptRunner(connectionFactory, waitReplicas, waitTimeout);
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		IdempotencyKey key = request.key();
		List<?> reply = run(Verb.CLAIM, key, RedisValues.of(request.claimId()), request.fingerprint().toBytes(),
				RedisValues.of(request.type() == ClaimType.ONCE), RedisValues.of(request.lease()),
				RedisValues.of(request.retention()), RedisValues.of(request.takeOver()), RedisValues.of(key.isToken()));
		return RedisReplies.claim(request, reply);
	}

	@Override
	public boolean complete(Completion completion) {
		StoredResult result = completion.result();
		return isAccepted(run(Verb.COMPLETE, completion.claim().key(), RedisValues.of(completion.claim().id()),
				RedisValues.of(completion.claim().fence()), completion.fingerprint().toBytes(),
				RedisValues.of(completion.type()), RedisValues.of(completion.retention()),
				RedisValues.of(completion.attachWithin()), RedisValues.ascii((result != null) ? result.format() : ""),
				(result != null) ? result.bytes() : new byte[0]));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return isAccepted(run(Verb.RELEASE, key, RedisValues.of(claimId)));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return isAccepted(run(Verb.RENEW, key, RedisValues.of(claimId), RedisValues.of(lease)));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * All scripts are sent without a wait between them: one round trip on a server, one
	 * for each node of a cluster. Only through Jedis on a cluster, for which Spring has
	 * no pipeline, does every claim take a round trip of its own.
	 */
	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		List<Renewal> all = List.copyOf(renewals);
		if (all.isEmpty()) {
			return Set.of();
		}
		List<byte[][]> keysAndArguments = all.stream()
			.map((renewal) -> keyAndArguments(renewal.key(), RedisValues.of(renewal.claimId()),
					RedisValues.of(renewal.lease())))
			.toList();
		List<Long> replies = carryOut(Verb.RENEW,
				(deadline) -> this.scripts.runAll(Verb.RENEW, keysAndArguments, deadline));
		Set<ClaimId> refused = new HashSet<>();
		for (int i = 0; i < replies.size(); i++) {
			if (!isAccepted(replies.get(i))) {
				refused.add(all.get(i).claimId());
			}
		}
		return refused;
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		if (!token.isToken()) {
			throw new IllegalArgumentException("Only a token can be issued, not a key of '" + token.operation() + "'");
		}
		Long expiresAt = run(Verb.ISSUE, token, RedisValues.of(timeToLive));
		return Instant.EPOCH.plus(expiresAt, ChronoUnit.MICROS);
	}

	private static boolean isAccepted(Long reply) {
		return reply == 1;
	}

	private <T> T run(Verb verb, IdempotencyKey key, byte[]... arguments) {
		byte[][] keyAndArguments = keyAndArguments(key, arguments);
		return carryOut(verb, (deadline) -> this.scripts.run(verb, keyAndArguments, deadline));
	}

	private byte[][] keyAndArguments(IdempotencyKey key, byte[]... arguments) {
		byte[][] keyAndArguments = new byte[arguments.length + 1][];
		keyAndArguments[0] = this.keyspace.key(key);
		System.arraycopy(arguments, 0, keyAndArguments, 1, arguments.length);
		return keyAndArguments;
	}

	private <T> T carryOut(Verb verb, Function<Deadline, T> call) {
		try {
			return call.apply(Deadline.in(this.storeTimeout));
		}
		catch (IdempotencyStoreException ex) {
			throw ex;
		}
		catch (NotSentException ex) {
			RuntimeException reason = translated(ex.reason());
			throw new StoreNotReachedException(
					"Redis could not be reached for '" + verb + "': " + reason.getClass().getSimpleName(), reason);
		}
		catch (RuntimeException ex) {
			// The clients agree on no type: whatever it is, the script may have been
			// applied.
			RuntimeException reason = translated(ex);
			String unreadable = unreadable(ex);
			if (unreadable != null) {
				throw new UnreadableRecordException("Redis could not carry out '" + verb + "': " + unreadable, reason);
			}
			throw new IdempotencyStoreException(
					"Redis could not carry out '" + verb + "': " + reason.getClass().getSimpleName(), reason);
		}
	}

	/** What the script says of a record that it cannot read. */
	private static @Nullable String unreadable(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			String message = cause.getMessage();
			int start = (message != null) ? message.indexOf(UNREADABLE) : -1;
			if (message != null && start >= 0) {
				return message.substring(start + UNREADABLE.length());
			}
			if (message != null && message.contains(OTHER_TYPE)) {
				return "there is a value of another type";
			}
		}
		return null;
	}

	/** In Spring's words, where it has any. */
	private RuntimeException translated(RuntimeException ex) {
		RuntimeException translated = this.connectionFactory.translateExceptionIfPossible(ex);
		return (translated != null) ? translated : ex;
	}

	/**
	 * Looks at the client and at the server once, to be called at start-up: logs a
	 * warning if the client may take longer than the store's time-out, and if the server
	 * evicts keys or has too few replicas. A server that cannot be reached or does not
	 * tell is no reason not to start.
	 * @throws IdempotencyConfigurationException if the server is too old, or its client
	 * cannot wait for replicas
	 */
	public void verify() {
		ClientTimeouts.warnOfLonger(this.connectionFactory, this.storeTimeout);
		RedisServerCheck.run(this.connectionFactory, this.waitReplicas);
	}

	/**
	 * Gives back the connections that are kept for the store; the store must not be used
	 * any more.
	 */
	@Override
	public void close() {
		this.scripts.close();
	}

}
