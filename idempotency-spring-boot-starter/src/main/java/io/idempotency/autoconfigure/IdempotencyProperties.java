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
 * All properties under {@code idempotency}. Values are checked at start-up; a wrong value
 * fails the start-up with the name of the property.
 *
 * @param enabled Whether calls are guarded at all. When false, annotations have no effect
 * and the template runs every action.
 * @param store Where records are kept. By default the store whose connection the
 * application has, and memory (one JVM only) if it has none.
 * @param retention How long the result of a call is kept and replayed. Seconds, unless a
 * unit is given.
 * @param lease How long a claim lives without renewal. After that the owner counts as
 * dead. Seconds, unless a unit is given.
 * @param renewal Whether the claim of a running call is renewed every third of the lease.
 * @param conflict What a duplicate gets while the first call still runs.
 * @param waitTimeout How long a duplicate waits for the first call before it is refused.
 * Seconds, unless a unit is given.
 * @param maxWaiters How many duplicates may wait on one node at the same time. A further
 * one is refused at once.
 * @param maxDetachedCalls Maximum number of calls that continue on one node after their
 * caller is gone. At this number new calls get 503. An operation that has more than half
 * of it gets 503 alone.
 * @param maxDetachedDuration Maximum duration for which the claim of such a call is
 * renewed. After that its outcome is unknown and its lease expires. Seconds, unless a
 * unit is given.
 * @param scope Whether the key of a request belongs to its caller or to all callers.
 * @param fingerprint How the bodies of two requests with one key are compared.
 * @param onFailure What happens to the key of a failed call.
 * @param onStoreFailure What a call does when the store cannot be reached.
 * @param storeTimeout How long one call of a store may take, if its client lets that be
 * bounded. If it is not shorter than a third of the lease, claims of running calls may
 * not be renewed in time. Seconds, unless a unit is given.
 * @param shutdownTimeout How long an application that ends keeps trying to store the
 * results of its calls. Keep it shorter than spring.lifecycle.timeout-per-shutdown-phase.
 * Seconds, unless a unit is given.
 * @param advisorOrder Order of the guard among the advisors of a bean. Advisors with a
 * smaller order are outside of it, so a replay must pass them too. By default the guard
 * is inside of method security, and outside of advisors without an order, such as
 * transactions, caching and retries.
 * @param key Keys of requests.
 * @param http Requests and responses.
 * @param token Issued tokens.
 * @param redis The Redis store.
 * @param jdbc The JDBC store.
 * @param memory The memory store.
 * @param namespace Name of the service, a part of every key. Services that share a store
 * share keys only if their namespaces are equal. By default spring.application.name, and
 * empty if there is none.
 * @param node Name of this node, which a record shows to operators beside the claims that
 * the node has made. At most 64 printable characters of ASCII without a space. By default
 * the name of the host, as far as the environment or the files of the machine tell it,
 * and the id of the process.
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
	 * @param header Name of the request header that holds the key.
	 * @param maxLength How many characters a key of a request may have.
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
	 * @param filterOrder Order of the servlet filter. It must be greater than that of
	 * Spring Security (-100), or the answers of Spring Security count as answers of the
	 * handler.
	 * @param replayedHeader Name of the response header that marks a replay.
	 * @param maxRequestSize Largest body of a guarded request. A larger one is refused
	 * (413) if the body is compared or holds the key.
	 * @param maxResponseSize Largest body of a response that is kept. A larger one
	 * reaches the client whole, and duplicates are told that it is not available.
	 * @param releaseOn Status codes of failures, or classes of them (4xx, 5xx), after
	 * which the key is free again.
	 * @param excludedHeaders Names of response headers that are never stored.
	 * @param scopeHeaders Names of request headers that are part of the caller, such as
	 * the header of a tenant. Callers that send other values, or none, never share a key.
	 * @param anonymous Guarded requests without a principal: share one space of keys, or
	 * are refused with 401. An IdempotencyScopeResolver decides that itself.
	 * @param fingerprintHeaders Names of request headers that must be equal on a retry.
	 * The conditional headers must always be equal, and Range where the answer is a part.
	 * @param ignoredParameters Names of parameters in queries and forms that need not be
	 * equal on a retry. The CSRF parameter of Spring Security and the field of the key
	 * need never be equal.
	 * @param problemTypeBase What the type of a problem begins with; its code follows.
	 * With the address of pages about the codes, a type can be opened.
	 * @param retentionOnError How long an answer of 4xx is kept. Must not be longer than
	 * the retention, which is the default. Seconds, unless a unit is given.
	 * @param onDisconnect What becomes of the work of a guarded request of WebFlux when
	 * its client hangs up: continue, so that the repetition gets its answer, or cancel.
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
		 * What happens to the work of a guarded WebFlux request when its client
		 * disconnects.
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
		 * What becomes of guarded requests without a principal.
		 *
		 * @since 0.1.0
		 */
		public enum Anonymous {

			/** They share one space of keys. */
			SHARE,

			/** They are refused with 401. */
			REJECT

		}

	}

	/**
	 * Issued tokens.
	 *
	 * @param enabled Whether the endpoint that issues tokens is there.
	 * @param path Path of the endpoint that issues tokens.
	 * @param ttl How long an issued token may be used. Seconds, unless a unit is given.
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
	 * @param keyPrefix What the name of every Redis key starts with.
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
	 * @param tableName Name of the table, with its schema if need be.
	 * @param initializeSchema When the table is created at start-up.
	 * @param cleanup Removal of records whose retention is over.
	 */
	public record Jdbc(@DefaultValue("3") int poolSize, @DefaultValue("idempotency_record") String tableName,
			@DefaultValue("embedded") SchemaInitialization initializeSchema, @DefaultValue Cleanup cleanup) {

		/** Checks the values. */
		public Jdbc {
			PropertyChecks.atLeast(0, "jdbc.pool-size", poolSize);
			PropertyChecks.tableName("jdbc.table-name", tableName);
		}

		/**
		 * Removal of records whose retention is over.
		 *
		 * @param enabled Whether this node removes them.
		 * @param interval How long the clean-up rests between two rounds. Seconds, unless
		 * a unit is given.
		 * @param batchSize How many records one transaction removes at most.
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

		/** When the table is created at start-up. */
		public enum SchemaInitialization {

			/** The table is created in an embedded database only. */
			EMBEDDED,

			/**
			 * The table is created if it is missing; the script may run at every
			 * start-up.
			 */
			ALWAYS,

			/** The table is never created; a missing table fails the start-up. */
			NEVER

		}

	}

	/**
	 * The memory store.
	 *
	 * @param maxSize How much of the heap records may take. Refused calls are dropped
	 * first, then remembered failures, then the oldest results; claims never. By default
	 * an eighth of the largest heap, but at least 64MB.
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
	 * @param keys Keys by their ids: the base64 of 16, 24 or 32 random bytes each
	 * (AES-GCM). The first one encrypts unless active-key names another, and every one
	 * decrypts. An id is 1 to 20 letters, digits, dots, hyphens and underscores.
	 * @param activeKey Id of the key that encrypts, by default the first one. Set it if
	 * the keys come from a source without an order, such as environment variables.
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
	 * @param writeOperations Whether the actuator endpoint "idempotency" can also evict
	 * and erase records, which lets their calls run again. Restrict who may reach the
	 * endpoint before you set it to true.
	 */
	public record Admin(@DefaultValue("false") boolean writeOperations) {
	}

	/**
	 * How the bodies of two requests with one key are compared.
	 */
	public enum FingerprintType {

		/**
		 * JSON bodies are compared by value: white space and the order of members do not
		 * count.
		 */
		JSON,

		/** All bodies are compared by their bytes. */
		RAW

	}

}
