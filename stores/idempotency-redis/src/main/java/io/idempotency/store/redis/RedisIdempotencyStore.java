package io.idempotency.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Causes;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.Renewal;
import io.idempotency.store.Scheduler;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.store.redis.ScriptRunner.Deadline;
import io.idempotency.store.redis.ScriptRunner.NotSentException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Stores records in Redis 6.2 or newer, or in a compatible server: standalone, Sentinel
 * or Cluster, through Lettuce or Jedis.
 * <p>
 * Every operation is one Lua script over one key, so it is atomic, takes one round trip,
 * and works in a cluster. The clock is that of the server. Records expire by themselves,
 * so no cleanup is needed. This object only holds connections.
 * <p>
 * When the server loses records, the duplicates of their calls run again. A server may
 * lose its data when it restarts; use an append-only file to prevent that. A server may
 * fail over before a write was replicated. A server may also evict records, see
 * {@link #verify()}.
 * <p>
 * A call to which the server does not reply fails after the store's timeout. With
 * Lettuce, that applies regardless of the client's timeouts, even while the client is not
 * connected. With Jedis, only the client can end a wait, after its read timeout, its
 * connect timeout or the longest wait of its pool. {@link #verify()} logs a warning if
 * one of them is longer than the store's timeout.
 *
 * @since 0.1.0
 */
public final class RedisIdempotencyStore implements IdempotencyStore, AutoCloseable {

	/** The first word of a script's error about a record that it cannot read. */
	private static final String UNREADABLE = "IDEMPOTENCY ";

	/** The error code of Redis for a key that holds a value of another type. */
	private static final String OTHER_TYPE = "WRONGTYPE";

	/** The default prefix of the names of all records. */
	public static final String DEFAULT_KEY_PREFIX = "idempotency:";

	private final RedisConnectionFactory connectionFactory;

	private final RedisKeyspace keyspace;

	private final ScriptComposer steps;

	private final ScriptRunner scripts;

	private final Duration storeTimeout;

	/**
	 * Creates a store with the default prefix and a timeout of two seconds.
	 * @param connectionFactory the source of connections
	 */
	public RedisIdempotencyStore(RedisConnectionFactory connectionFactory) {
		this(connectionFactory, DEFAULT_KEY_PREFIX, Duration.ofSeconds(2));
	}

	/**
	 * Creates a store.
	 * @param connectionFactory the source of connections
	 * @param keyPrefix the prefix of the names of all records
	 * @param storeTimeout how long one call may take at most, at least a millisecond
	 */
	public RedisIdempotencyStore(RedisConnectionFactory connectionFactory, String keyPrefix, Duration storeTimeout) {
		if (storeTimeout.toMillis() < 1) {
			throw new IllegalArgumentException("storeTimeout must be at least a millisecond, not " + storeTimeout);
		}
		this.connectionFactory = connectionFactory;
		this.keyspace = new RedisKeyspace(keyPrefix);
		this.steps = new ScriptComposer(this.keyspace);
		this.storeTimeout = storeTimeout;
		this.scripts = scriptRunner(connectionFactory);
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		return make(this.steps.claim(request));
	}

	@Override
	public boolean complete(Completion completion) {
		return make(this.steps.complete(completion));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return make(this.steps.release(key, claimId));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return make(this.steps.renew(key, claimId, lease));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * The store sends all scripts without a wait between them: that takes one round trip
	 * on a server, and one for each node of a cluster. With Jedis on a cluster, every
	 * claim takes a separate round trip, because Spring has no pipeline there.
	 */
	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		List<Renewal> all = List.copyOf(renewals);
		return all.isEmpty() ? Set.of()
				: ScriptComposer.rejected(all, runAll(RedisScript.RENEW, this.steps.renewAll(all)));
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		return make(this.steps.issue(token, timeToLive));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * Records are found by {@code SCAN}, step by step, in a cluster on one master after
	 * the other. If a server fails over or slots move during a walk, records may be
	 * missed or returned twice.
	 */
	@Override
	public Optional<RecordAdmin> admin() {
		return Optional.of(new RedisRecordAdmin(this, this.keyspace, new RedisMasters(this.connectionFactory)));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * A plain {@code GET} finds the result. A result never changes, and the server does
	 * not return records that expired by its clock, so no script is needed.
	 */
	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return found(carryOut("look", (deadline) -> this.scripts.get(this.steps.key(key), deadline).await(deadline)),
				fingerprint);
	}

	static Optional<ClaimResult.Completed> found(byte @Nullable [] record, Fingerprint fingerprint) {
		return RedisReplies.found(record, fingerprint, Instant.now());
	}

	ScriptComposer steps() {
		return this.steps;
	}

	/** Lettuce may be missing, so the class path is checked first. */
	private static ScriptRunner scriptRunner(RedisConnectionFactory connectionFactory) {
		ScriptRunner lettuce = ClassUtils.isPresent("io.lettuce.core.RedisClient",
				RedisIdempotencyStore.class.getClassLoader()) ? LettuceScriptRunner.of(connectionFactory) : null;
		return (lettuce != null) ? lettuce : new SpringScriptRunner(connectionFactory);
	}

	ScriptRunner scripts() {
		return this.scripts;
	}

	private <R, T> T make(ScriptComposer.Step<R, T> step) {
		return step.answer().apply(run(step.verb(), step.keyAndArguments()));
	}

	<T> T run(RedisScript verb, byte[][] keyAndArguments) {
		return carryOut(verb, (deadline) -> this.scripts.<T>run(verb, keyAndArguments, deadline).await(deadline));
	}

	<T> List<T> runAll(RedisScript verb, List<byte[][]> keysAndArguments) {
		return carryOut(verb, (deadline) -> this.scripts.<T>runAll(verb, keysAndArguments, deadline).await(deadline));
	}

	<T> T carryOut(Object verb, Function<Deadline, T> call) {
		try {
			return call.apply(deadline());
		}
		catch (RuntimeException ex) {
			throw failure(verb, ex);
		}
	}

	/** Returns when a call that begins now must end. */
	Deadline deadline() {
		return Deadline.in(this.storeTimeout);
	}

	/** Returns the exception for the caller of an operation. */
	IdempotencyStoreException failure(Object verb, Throwable wrapped) {
		Throwable failure = ScriptRunner.unwrap(wrapped);
		if (failure instanceof IdempotencyStoreException known) {
			return known;
		}
		if (failure instanceof NotSentException notSent) {
			RuntimeException reason = translated(notSent.reason());
			return new StoreNotReachedException(
					"Redis could not be reached for '" + verb + "': " + reason.getClass().getSimpleName(), reason);
		}
		// The clients have no exception type in common, so after any exception the
		// script may have been applied.
		Throwable reason = (failure instanceof RuntimeException ex) ? translated(ex) : failure;
		String message = "Redis failed to execute '" + verb + "': ";
		String unreadable = unreadable(failure);
		return (unreadable != null) ? new UnreadableRecordException(message + unreadable, reason)
				: new IdempotencyStoreException(message + reason.getClass().getSimpleName(), reason);
	}

	/**
	 * Returns the message about a record that cannot be read, or {@code null} if the
	 * failure is another one.
	 */
	private static @Nullable String unreadable(Throwable failure) {
		return Causes.of(failure)
			.map(Throwable::getMessage)
			.filter((message) -> message != null && (message.contains(UNREADABLE) || message.contains(OTHER_TYPE)))
			.findFirst()
			.map((message) -> message.contains(UNREADABLE)
					? message.substring(message.indexOf(UNREADABLE) + UNREADABLE.length())
					: "the key holds a value of another type")
			.orElse(null);
	}

	/** Translates an exception into one of Spring's, if Spring has one for it. */
	private RuntimeException translated(RuntimeException ex) {
		RuntimeException translated = this.connectionFactory.translateExceptionIfPossible(ex);
		return (translated != null) ? translated : ex;
	}

	/**
	 * Checks the client and the server; to be called once, at startup. It logs a warning
	 * if the client may wait longer than the store's timeout, or if the server evicts
	 * keys. If the server cannot be reached or does not reply, startup continues.
	 * @throws IdempotencyConfigurationException if the server is too old or rejects the
	 * password
	 */
	public void verify() {
		if (ClassUtils.isPresent("redis.clients.jedis.Jedis", getClass().getClassLoader())) {
			JedisTimeouts.warnOfLonger(this.connectionFactory, this.storeTimeout);
		}
		RedisServerCheck.run(this.connectionFactory);
	}

	/**
	 * Creates a watch of the keys that the servers of this store evict.
	 * @param interval how long to wait between two questions, positive
	 * @param scheduler provides time and a thread
	 * @return the watch, to be started and closed
	 */
	public RedisEvictionMonitor evictions(Duration interval, Scheduler scheduler) {
		return new RedisEvictionMonitor(this.connectionFactory, interval, scheduler);
	}

	/**
	 * Closes the connections that are dedicated to the store. The store must not be used
	 * any more.
	 */
	@Override
	public void close() {
		this.scripts.close();
	}

	/**
	 * Checks at startup whether a client may block a call for longer than the store
	 * allows. Lettuce never does, with any timeouts: see {@link LettuceScript}. A
	 * separate class, because Jedis may not be on the class path.
	 */
	private static final class JedisTimeouts {

		private static final Logger logger = LoggerFactory.getLogger(RedisIdempotencyStore.class);

		private JedisTimeouts() {
		}

		static void warnOfLonger(RedisConnectionFactory connectionFactory, Duration storeTimeout) {
			if (!(connectionFactory instanceof JedisConnectionFactory jedis)) {
				return;
			}
			Map<String, Duration> longer = new LinkedHashMap<>();
			JedisClientConfiguration client = jedis.getClientConfiguration();
			longer.put("spring.data.redis.timeout", client.getReadTimeout());
			longer.put("spring.data.redis.connect-timeout", client.getConnectTimeout());
			client.getPoolConfig()
				.filter((pool) -> jedis.getUsePool() && pool.getBlockWhenExhausted())
				.ifPresent((pool) -> longer.put("spring.data.redis.jedis.pool.max-wait", pool.getMaxWaitDuration()));
			// Zero means "forever" to Jedis, and a negative timeout means that to a pool.
			longer.values()
				.removeIf((timeout) -> !timeout.isZero() && !timeout.isNegative()
						&& timeout.compareTo(storeTimeout) <= 0);
			if (!longer.isEmpty()) {
				logger.warn(
						"[IDEM-209] Jedis can block a guarded call for longer than idempotency.store-timeout ({} "
								+ "ms), because only its timeouts end the wait. Set {} to at most {}ms.",
						storeTimeout.toMillis(), String.join(" and ", longer.keySet()), storeTimeout.toMillis());
			}
		}

	}

}
