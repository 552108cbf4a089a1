package io.idempotency.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.Causes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.convert.Converters;

/**
 * Checks the servers at startup for settings that would break the guarantees of the store
 * later. The check uses {@code INFO} only, because {@code CONFIG} is forbidden on managed
 * servers.
 */
final class RedisServerCheck {

	private static final Logger logger = LoggerFactory.getLogger(RedisServerCheck.class);

	private static final Pattern NO_LOGIN = Pattern.compile("WRONGPASS |NOAUTH |ERR AUTH |ERR invalid password");

	private static final Pattern NO_INFO = Pattern.compile("NOPERM |ERR unknown command");

	private static final String OLDEST = "6.2";

	private final Properties info;

	private RedisServerCheck(Properties info) {
		this.info = info;
	}

	static void run(RedisConnectionFactory connectionFactory) {
		RedisServerCheck check;
		try {
			check = ask(connectionFactory);
		}
		catch (RuntimeException ex) {
			requireLogin(ex);
			logger.debug("The INFO output of Redis could not be read", ex);
			if (reply(ex, NO_INFO) != null) {
				logger.warn("[IDEM-207] The Redis user of the application may not run INFO: version, memory policy "
						+ "and evicted keys are not checked. Guarded calls are not affected. Allow INFO, or make "
						+ "sure that the server is Redis {} or newer with maxmemory-policy 'noeviction'.", OLDEST);
				return;
			}
			// The server may be up before the first call comes.
			logger.warn("[IDEM-208] Redis is unavailable at startup: {}. Until it recovers, guarded calls receive "
					+ "503, or run unguarded if idempotency.on-store-failure is 'proceed'. Check the connection to "
					+ "Redis.", Causes.root(ex).toString());
			return;
		}
		check.requireVersion();
		check.warnOfEviction();
		loadScripts(connectionFactory);
	}

	/** A server that rejects to load a script gets it with the first call. */
	private static void loadScripts(RedisConnectionFactory connectionFactory) {
		try (RedisConnection connection = connectionFactory.getConnection()) {
			for (RedisScript verb : List.of(RedisScript.CLAIM, RedisScript.COMPLETE, RedisScript.RELEASE,
					RedisScript.RENEW)) {
				connection.scriptingCommands().scriptLoad(verb.script());
			}
		}
		catch (RuntimeException ex) {
			logger.debug("Redis did not load the scripts", ex);
		}
	}

	/**
	 * Queries all servers of a cluster, or the master. A replica does not report the
	 * evictions of its master.
	 */
	static RedisServerCheck ask(RedisConnectionFactory connectionFactory) {
		try (RedisConnection connection = connectionFactory.getConnection()) {
			Properties info = (isLettuce(connection) && !(connection instanceof RedisClusterConnection)) ? Converters
				.toProperties(new String(LettuceScript.info(LettuceConnections.nativeConnection(connection)),
						StandardCharsets.UTF_8))
					: connection.serverCommands().info();
			return new RedisServerCheck((info != null) ? info : new Properties());
		}
	}

	/** Goes by the name of the class, because Lettuce may be missing. */
	private static boolean isLettuce(RedisConnection connection) {
		return connection.getClass().getName().startsWith("org.springframework.data.redis.connection.lettuce.");
	}

	/** A wrong password does not get right by itself, so no call could ever succeed. */
	private static void requireLogin(Throwable failure) {
		String rejection = reply(failure, NO_LOGIN);
		if (rejection != null) {
			throw new IdempotencyConfigurationException("Redis rejected the login of the application: " + rejection,
					"Correct spring.data.redis.username and spring.data.redis.password, or the credentials of the "
							+ "connection factory for the records.",
					failure);
		}
	}

	/**
	 * Returns the error reply that begins with a code, {@code null} without such a reply.
	 */
	private static @Nullable String reply(Throwable failure, Pattern code) {
		// A cluster client tries several nodes, and suppresses all failures but one.
		return Causes.of(failure)
			.flatMap((cause) -> Stream.concat(Stream.of(cause), Stream.of(cause.getSuppressed()).flatMap(Causes::of)))
			.map(Throwable::getMessage)
			.filter((message) -> message != null && code.matcher(message).lookingAt())
			.findFirst()
			.orElse(null);
	}

	/**
	 * Returns how many keys each server has evicted since it was started.
	 * @return the numbers by server
	 */
	Map<String, Long> evictedKeys() {
		return properties("evicted_keys")
			.collect(Collectors.toMap((server) -> server, (server) -> Long.parseLong(value(server))));
	}

	/** Returns the policies of the servers for a full memory. */
	Set<String> memoryPolicies() {
		return values("maxmemory_policy").collect(Collectors.toCollection(TreeSet::new));
	}

	private void requireVersion() {
		values("redis_version").filter(RedisServerCheck::isTooOld).findFirst().ifPresent((version) -> {
			throw new IdempotencyConfigurationException(
					"Redis " + version + " is not supported as an idempotency store. The minimum version is " + OLDEST,
					"Upgrade the server, or set idempotency.store to another store.");
		});
	}

	private static boolean isTooOld(String version) {
		return version.matches("([0-5]\\.|6\\.[01]\\b).*");
	}

	/**
	 * Every record has an expiry, so even the policies that evict only keys with an
	 * expiry evict records.
	 */
	private void warnOfEviction() {
		boolean bounded = values("maxmemory").anyMatch((bytes) -> !bytes.equals("0"));
		values("maxmemory_policy").filter((policy) -> bounded && !policy.equals("noeviction"))
			.findFirst()
			.ifPresent((policy) -> logger
				.warn("[IDEM-206] Redis has maxmemory-policy '{}': when its memory is full, it evicts idempotency "
						+ "records, and duplicates of their calls run again. Set it to 'noeviction'.", policy));
	}

	private Stream<String> values(String name) {
		return properties(name).map(this::value);
	}

	private String value(String property) {
		return this.info.getProperty(property).trim();
	}

	/**
	 * Returns the names of the properties with a name; in a cluster they start with host
	 * and port of a node.
	 */
	private Stream<String> properties(String name) {
		return this.info.stringPropertyNames()
			.stream()
			.filter((property) -> property.equals(name) || property.endsWith("." + name));
	}

}
