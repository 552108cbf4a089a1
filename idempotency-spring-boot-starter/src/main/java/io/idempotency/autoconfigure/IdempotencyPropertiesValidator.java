package io.idempotency.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;

/**
 * Refuses values that bind but mean nothing. Not a Bean Validation constraint, because an
 * application need not have a provider.
 */
final class IdempotencyPropertiesValidator {

	/** RFC 9110, section 5.6.2. */
	private static final Pattern HTTP_TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

	private static final Pattern STATUS = Pattern.compile("[1-5](?:\\d\\d|[xX][xX])");

	private static final Pattern PATH = Pattern.compile("/[A-Za-z0-9._~!$&'()+,;=:@%/-]*");

	private static final Pattern TABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(?:\\.[A-Za-z_][A-Za-z0-9_]*){0,2}");

	/** Bodies are held in byte arrays. */
	private static final DataSize MAX_BODY = DataSize.ofGigabytes(1);

	private IdempotencyPropertiesValidator() {
	}

	/**
	 * Checks all values.
	 * @param properties the values
	 * @throws InvalidConfigurationPropertyValueException naming the first wrong one
	 */
	static void validate(IdempotencyProperties properties) {
		positive("retention", properties.retention());
		positive("lease", properties.lease());
		positive("wait-timeout", properties.waitTimeout());
		atLeast(0, "max-waiters", properties.maxWaiters());
		headerName("key.header", properties.key().header());
		atLeast(1, "key.max-length", properties.key().maxLength());
		validate(properties.http());
		matches(PATH, "token.path", properties.token().path(), "It must be a path that starts with a slash.");
		positive("token.ttl", properties.token().ttl());
		validate(properties.redis());
		validate(properties.jdbc());
		positive("memory.max-size", properties.memory().maxSize());
		positive("near-cache.max-size", properties.nearCache().maxSize());
		positive("near-cache.ttl", properties.nearCache().ttl());
	}

	private static void validate(IdempotencyProperties.Http http) {
		headerName("http.replayed-header", http.replayedHeader());
		bodySize("http.max-request-size", http.maxRequestSize());
		bodySize("http.max-response-size", http.maxResponseSize());
		List<String> releaseOn = http.releaseOn();
		for (int i = 0; i < releaseOn.size(); i++) {
			matches(STATUS, "http.release-on[" + i + "]", releaseOn.get(i),
					"It must be a status code such as 429, or a class of them such as 5xx.");
		}
		List<String> excludedHeaders = http.excludedHeaders();
		for (int i = 0; i < excludedHeaders.size(); i++) {
			headerName("http.excluded-headers[" + i + "]", excludedHeaders.get(i));
		}
	}

	private static void validate(IdempotencyProperties.Redis redis) {
		atLeast(0, "redis.wait-replicas", redis.waitReplicas());
		positive("redis.wait-timeout", redis.waitTimeout());
	}

	private static void validate(IdempotencyProperties.Jdbc jdbc) {
		matches(TABLE, "jdbc.table-name", jdbc.tableName(),
				"It must be a name of letters, digits and underscores, with its schema before a dot if need be.");
		positive("jdbc.cleanup.interval", jdbc.cleanup().interval());
		atLeast(1, "jdbc.cleanup.batch-size", jdbc.cleanup().batchSize());
	}

	private static void positive(String name, Duration value) {
		if (value.isZero() || value.isNegative()) {
			throw invalid(name, value, "It must be longer than zero, such as 30s or 24h.");
		}
	}

	private static void positive(String name, DataSize value) {
		if (value.toBytes() <= 0) {
			throw invalid(name, value, "It must be larger than zero, such as 64MB.");
		}
	}

	private static void bodySize(String name, DataSize value) {
		positive(name, value);
		if (value.compareTo(MAX_BODY) > 0) {
			throw invalid(name, value, "It must not be larger than 1GB: the body is held in memory.");
		}
	}

	private static void atLeast(int minimum, String name, int value) {
		if (value < minimum) {
			throw invalid(name, value, "It must be at least " + minimum + ".");
		}
	}

	private static void headerName(String name, String value) {
		matches(HTTP_TOKEN, name, value, "It must be the name of an HTTP header, without blanks.");
	}

	private static void matches(Pattern pattern, String name, String value, String reason) {
		if (!pattern.matcher(value).matches()) {
			throw invalid(name, value, reason);
		}
	}

	private static InvalidConfigurationPropertyValueException invalid(String name, Object value, String reason) {
		return new InvalidConfigurationPropertyValueException("idempotency." + name, value, reason);
	}

}
