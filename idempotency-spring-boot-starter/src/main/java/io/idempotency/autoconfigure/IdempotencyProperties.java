package io.idempotency.autoconfigure;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.ScopeMode;
import io.idempotency.StoreFailureMode;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.convert.DurationUnit;
import org.springframework.util.unit.DataSize;

/**
 * All properties under {@code idempotency}. Values are checked at startup. An invalid
 * value fails the startup with the name of the property.
 *
 * @param enabled Whether calls are guarded. If false, annotations have no effect and the
 * template runs every action.
 * @param store Store of the records. By default the store whose connection the
 * application has, otherwise memory (one JVM only).
 * @param retention Time for which the result of a call is stored and replayed. The
 * default unit is seconds.
 * @param lease Lifetime of a claim without renewal. After it, the process of the call
 * counts as crashed. The default unit is seconds.
 * @param renewal Whether the claim of a call in progress is renewed every third of the
 * lease.
 * @param conflict Response to a duplicate while the first call is in progress.
 * @param waitTimeout Maximum time for which a duplicate waits for the first call before
 * it is rejected. The default unit is seconds.
 * @param maxWaiters Maximum number of duplicates that wait on one node. Further
 * duplicates are rejected immediately.
 * @param maxDetachedCalls Maximum number of calls per node that continue after their
 * client disconnected. At this number, new calls receive 503. An operation with more than
 * half of these calls receives 503 alone.
 * @param maxDetachedDuration Maximum time for which the claim of such a call is renewed.
 * After it, the outcome is unknown and the lease expires. The default unit is seconds.
 * @param scope Scope of request keys: the caller or all callers.
 * @param fingerprint Comparison of the bodies of two requests with the same key.
 * @param onFailure Handling of the key of a failed call.
 * @param onStoreFailure Handling of a call if the store is unavailable.
 * @param storeTimeout Maximum time of one store operation, if the client of the store
 * supports a limit. It should be shorter than a third of the lease, so that claims are
 * renewed in time. The default unit is seconds.
 * @param shutdownTimeout Maximum time during shutdown to store pending results. Keep it
 * shorter than spring.lifecycle.timeout-per-shutdown-phase. The default unit is seconds.
 * @param advisorOrder Order of the guard among the advisors of a bean. By default it runs
 * after method security and before unordered advisors, such as transactions, caching and
 * retries. Advisors with a smaller order run before each replay.
 * @param key Keys of requests.
 * @param http Requests and responses.
 * @param token Issued tokens.
 * @param redis The Redis store.
 * @param jdbc The JDBC store.
 * @param memory The memory store.
 * @param namespace Name of the service, part of every key. Services that share a store
 * share keys only if their namespaces are equal. By default spring.application.name,
 * otherwise empty.
 * @param node Name of this node in records, for operators. At most 64 printable ASCII
 * characters without spaces. By default the host name, if known, and the process id.
 * @param encryption Encryption of stored results.
 * @param admin Administration of records.
 * @since 0.1.0
 */
@ConfigurationProperties("idempotency")
public record IdempotencyProperties(@DefaultValue("true") boolean enabled, @DefaultValue("auto") StoreType store,
		@DefaultValue("24h") @DurationUnit(ChronoUnit.SECONDS) Duration retention,
		@DefaultValue("30s") @DurationUnit(ChronoUnit.SECONDS) Duration lease, @DefaultValue("true") boolean renewal,
		@DefaultValue("reject") ConflictMode conflict,
		@DefaultValue("5s") @DurationUnit(ChronoUnit.SECONDS) Duration waitTimeout, @DefaultValue("50") int maxWaiters,
		@DefaultValue("1000") int maxDetachedCalls,
		@DefaultValue("10m") @DurationUnit(ChronoUnit.SECONDS) Duration maxDetachedDuration,
		@DefaultValue("principal") ScopeMode scope, @DefaultValue("json") FingerprintType fingerprint,
		@DefaultValue("release") FailureMode onFailure, @DefaultValue("reject") StoreFailureMode onStoreFailure,
		@DefaultValue("2s") @DurationUnit(ChronoUnit.SECONDS) Duration storeTimeout,
		@DefaultValue("10s") @DurationUnit(ChronoUnit.SECONDS) Duration shutdownTimeout,
		@DefaultValue("1000") int advisorOrder, @DefaultValue Key key, @DefaultValue Http http,
		@DefaultValue Token token, @DefaultValue Redis redis, @DefaultValue Jdbc jdbc, @DefaultValue Memory memory,
		@Nullable String namespace, @Nullable String node, @DefaultValue Encryption encryption,
		@DefaultValue Admin admin) {

	/** Checks the values. */
	public IdempotencyProperties {
		if (namespace != null) {
			PropertyChecks.namespace("namespace", namespace);
		}
		if (node != null) {
			PropertyChecks.node("node", node);
		}
		PropertyChecks.duration("retention", retention);
		PropertyChecks.duration("lease", lease);
		PropertyChecks.shared("conflict", conflict);
		PropertyChecks.shared("on-failure", onFailure);
		PropertyChecks.duration("wait-timeout", waitTimeout);
		PropertyChecks.atLeast(0, "max-waiters", maxWaiters);
		PropertyChecks.atLeast(1, "max-detached-calls", maxDetachedCalls);
		PropertyChecks.duration("max-detached-duration", maxDetachedDuration);
		PropertyChecks.duration("store-timeout", storeTimeout);
		PropertyChecks.duration("shutdown-timeout", shutdownTimeout);
		PropertyChecks.anonymous(http.anonymous(), scope);
		if (http.retentionOnError() != null) {
			PropertyChecks.notLonger("http.retention-on-error", http.retentionOnError(), "retention", retention);
		}
	}

	/**
	 * Keys of requests.
	 *
	 * @param header Name of the request header that contains the key.
	 * @param maxLength Maximum number of characters in the key of a request.
	 */
	public record Key(@DefaultValue("Idempotency-Key") String header, @DefaultValue("255") int maxLength) {

		/** Checks the values. */
		public Key {
			PropertyChecks.headerName("key.header", header);
			PropertyChecks.atLeast(1, "key.max-length", maxLength);
		}

	}

	/**
	 * Requests and responses.
	 *
	 * @param filterOrder Order of the servlet filter. It must be greater than the order
	 * of Spring Security (-100). Otherwise responses of Spring Security are treated as
	 * responses of the handler.
	 * @param replayedHeader Name of the response header that marks a replay.
	 * @param maxRequestSize Maximum body size of a guarded request. A larger request is
	 * rejected with 413 if the body is compared or contains the key.
	 * @param maxResponseSize Maximum body size of a stored response. The client receives
	 * a larger response completely, but duplicates receive 409 (result-unavailable).
	 * @param releaseOn Status codes of failures, or classes of them (4xx, 5xx), after
	 * which the key is released.
	 * @param excludedHeaders Names of response headers that are never stored.
	 * @param scopeHeaders Names of request headers that are part of the caller, such as
	 * the tenant header. Callers with different values, or without a value, never share a
	 * key.
	 * @param anonymous Handling of guarded requests without a principal: they share their
	 * keys or are rejected with 401. An IdempotencyScopeResolver takes precedence.
	 * @param fingerprintHeaders Names of request headers that must be equal on a retry.
	 * Conditional headers must always be equal, and Range if the response is partial.
	 * @param ignoredParameters Names of query and form parameters that may differ on a
	 * retry. The CSRF parameter of Spring Security and the key field are always ignored.
	 * @param problemTypeBase Prefix of the problem type, followed by the code. Set it to
	 * the address of your documentation to make the types links.
	 * @param retentionOnError Time for which a 4xx response is stored. It must not be
	 * longer than the retention, which is the default. The default unit is seconds.
	 * @param onDisconnect Handling of a guarded WebFlux request whose client disconnects:
	 * continue, so that a retry receives the response, or cancel.
	 */
	// @formatter:off (it breaks an array in a record's header into many lines)
	public record Http(@DefaultValue("0") int filterOrder, @DefaultValue("Idempotent-Replayed") String replayedHeader,
			@DefaultValue("1MB") DataSize maxRequestSize, @DefaultValue("1MB") DataSize maxResponseSize,
			@DefaultValue({ "401", "403", "408", "425", "429", "5xx" }) List<String> releaseOn,
			@DefaultValue List<String> excludedHeaders, @DefaultValue List<String> scopeHeaders,
			@DefaultValue("share") Anonymous anonymous,
			@DefaultValue List<String> fingerprintHeaders, @DefaultValue List<String> ignoredParameters,
			@DefaultValue("urn:idempotency:") String problemTypeBase,
			@DurationUnit(ChronoUnit.SECONDS) @Nullable Duration retentionOnError,
			@DefaultValue("continue") OnDisconnect onDisconnect) {
	// @formatter:on

		/** Checks the values. */
		public Http {
			PropertyChecks.addedHeader("http.replayed-header", replayedHeader);
			PropertyChecks.bodySize("http.max-request-size", maxRequestSize);
			PropertyChecks.bodySize("http.max-response-size", maxResponseSize);
			PropertyChecks.statusPatterns("http.release-on", releaseOn);
			PropertyChecks.headerNames("http.excluded-headers", excludedHeaders);
			PropertyChecks.headersOfRetries("http.scope-headers", scopeHeaders);
			PropertyChecks.headersOfRetries("http.fingerprint-headers", fingerprintHeaders);
			PropertyChecks.typeBase("http.problem-type-base", problemTypeBase);
			if (retentionOnError != null) {
				PropertyChecks.duration("http.retention-on-error", retentionOnError);
			}
		}

		/**
		 * Handling of the work of a guarded WebFlux request when its client disconnects.
		 *
		 * @since 0.1.0
		 */
		public enum OnDisconnect {

			/** The work continues, and a retry receives its result. */
			CONTINUE,

			/** The work is cancelled. */
			CANCEL

		}

		/**
		 * Handling of guarded requests without a principal.
		 *
		 * @since 0.1.0
		 */
		public enum Anonymous {

			/** They share their keys. */
			SHARE,

			/** They are rejected with 401. */
			REJECT

		}

	}

	/**
	 * Issued tokens.
	 *
	 * @param enabled Whether the endpoint that issues tokens is available.
	 * @param path Path of the endpoint that issues tokens.
	 * @param ttl Maximum time for which an issued token can be used. The default unit is
	 * seconds.
	 */
	public record Token(@DefaultValue("false") boolean enabled, @DefaultValue("/idempotency/tokens") String path,
			@DefaultValue("10m") @DurationUnit(ChronoUnit.SECONDS) Duration ttl) {

		/** Checks the values. */
		public Token {
			PropertyChecks.path("token.path", path);
			PropertyChecks.duration("token.ttl", ttl);
		}

	}

	/**
	 * The Redis store.
	 *
	 * @param keyPrefix Prefix of all Redis keys.
	 */
	public record Redis(@DefaultValue("idempotency:") String keyPrefix) {

		/** Checks the values. */
		public Redis {
			PropertyChecks.keyPrefix("redis.key-prefix", keyPrefix);
		}

	}

	/**
	 * The JDBC store.
	 *
	 * @param poolSize Number of dedicated connections for renewals, repeated writes and
	 * claims inside a caller's transaction, configured like the application's pool. With
	 * 0, all operations use the application's pool.
	 * @param tableName Name of the table, optionally with a schema name and a dot before
	 * it.
	 * @param initializeSchema When the table is created at startup.
	 * @param cleanup Removal of expired records.
	 */
	public record Jdbc(@DefaultValue("3") int poolSize, @DefaultValue("idempotency_record") String tableName,
			@DefaultValue("embedded") SchemaInitialization initializeSchema, @DefaultValue Cleanup cleanup) {

		/** Checks the values. */
		public Jdbc {
			PropertyChecks.atLeast(0, "jdbc.pool-size", poolSize);
			PropertyChecks.tableName("jdbc.table-name", tableName);
		}

		/**
		 * Removal of expired records.
		 *
		 * @param enabled Whether this node removes expired records.
		 * @param interval Pause between two cleanup runs. The default unit is seconds.
		 * @param batchSize Maximum number of records that one transaction removes.
		 */
		public record Cleanup(@DefaultValue("true") boolean enabled,
				@DefaultValue("5m") @DurationUnit(ChronoUnit.SECONDS) Duration interval,
				@DefaultValue("1000") int batchSize) {

			/** Checks the values. */
			public Cleanup {
				PropertyChecks.duration("jdbc.cleanup.interval", interval);
				PropertyChecks.between(1, 10_000, "jdbc.cleanup.batch-size", batchSize);
			}

		}

		/** When the table is created at startup. */
		public enum SchemaInitialization {

			/** The table is created in an embedded database only. */
			EMBEDDED,

			/**
			 * The table is created if it is missing. The script may run at every startup.
			 */
			ALWAYS,

			/** The table is never created. If it is missing, startup fails. */
			NEVER

		}

	}

	/**
	 * The memory store.
	 *
	 * @param maxSize Maximum heap size of the records. Rejected calls are evicted first,
	 * then remembered failures, then the oldest results, but claims never. By default an
	 * eighth of the maximum heap, but at least 64MB.
	 */
	public record Memory(DataSize maxSize) {

		private static final DataSize SMALLEST_DEFAULT = DataSize.ofMegabytes(64);

		private static final int PART_OF_THE_HEAP = 8;

		/**
		 * Checks the values.
		 * @param maxSize how much of the heap records may take, {@code null} for the
		 * default
		 */
		public Memory(@Nullable DataSize maxSize) {
			this.maxSize = (maxSize != null) ? maxSize : defaultOf(Runtime.getRuntime().maxMemory());
			PropertyChecks.positive("memory.max-size", this.maxSize);
		}

		static DataSize defaultOf(long largestHeap) {
			return DataSize.ofBytes(Math.max(largestHeap / PART_OF_THE_HEAP, SMALLEST_DEFAULT.toBytes()));
		}

	}

	/**
	 * Encryption of stored results, off without a key. A bean of type ResultCipher
	 * replaces the keys.
	 *
	 * @param keys Base64-encoded AES-GCM keys of 16, 24 or 32 random bytes, by id. The
	 * first key encrypts unless active-key names another, and every key decrypts. An id
	 * is 1 to 20 letters, digits, dots, hyphens and underscores.
	 * @param activeKey Id of the key that encrypts, by default the first one. Set it if
	 * the keys come from an unordered source, such as environment variables.
	 * @param allowUnencryptedReads Whether results that were stored without encryption
	 * are replayed. Set it to true only while encryption is introduced.
	 */
	public record Encryption(@DefaultValue Map<String, String> keys, @Nullable String activeKey,
			@DefaultValue("false") boolean allowUnencryptedReads) {

		/** Checks the values. */
		public Encryption {
			EncryptionKeys.check(keys, activeKey);
		}

		/** Prints the ids of the keys, never the keys. */
		@Override
		public String toString() {
			return "Encryption[keys=" + this.keys.keySet() + ", activeKey=" + this.activeKey
					+ ", allowUnencryptedReads=" + this.allowUnencryptedReads + "]";
		}

	}

	/**
	 * Administration of records.
	 *
	 * @param writeOperations Whether the actuator endpoint "idempotency" can evict and
	 * erase records, so that their calls can run again. Restrict access to the endpoint
	 * before you set it to true.
	 */
	public record Admin(@DefaultValue("false") boolean writeOperations) {
	}

	/**
	 * Comparison of the bodies of two requests with the same key.
	 */
	public enum FingerprintType {

		/**
		 * JSON bodies are compared by value: white space and the order of properties are
		 * ignored.
		 */
		JSON,

		/** All bodies are compared by their bytes. */
		RAW

	}

}
