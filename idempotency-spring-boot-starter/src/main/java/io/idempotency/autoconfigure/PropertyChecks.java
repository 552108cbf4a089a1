package io.idempotency.autoconfigure;

import java.net.URI;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.ScopeMode;
import io.idempotency.autoconfigure.IdempotencyProperties.Http.Anonymous;
import io.idempotency.http.HttpSettings;
import io.idempotency.key.HeaderKeyParser;
import io.idempotency.store.sql.Dialects;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.unit.DataSize;

/**
 * Rejects values that can be bound but make no sense, with the name of their property.
 * These checks are not constraints of Bean Validation, because an application may have no
 * provider for them.
 */
final class PropertyChecks {

	private static final Set<String> OF_ONE_OPERATION = Set.of("DEFAULT", "SKIP");

	private static final Pattern PATH = Pattern.compile("/[A-Za-z0-9._~!$&'()+,;=:@%/-]*");

	private static final Pattern KEY_PREFIX = Pattern.compile("[^\\s\\p{C}\\p{Z}]*");

	private static final Pattern NAMESPACE = Pattern.compile("[^:\\p{C}\\p{Zl}\\p{Zp}]{0,100}");

	private static final Pattern NODE = Pattern.compile("[!-~]{1,64}");

	private static final Duration SHORTEST = Duration.ofMillis(1);

	private static final Duration LONGEST = Duration.ofDays(36_500);

	/** Standard response headers, whose values the library must not replace. */
	private static final Set<String> HEADERS_OF_ANSWERS = Set.of("allow", "cache-control", "connection",
			"content-disposition", "content-encoding", "content-language", "content-length", "content-location",
			"content-range", "content-type", "date", "etag", "expires", "last-modified", "location", "retry-after",
			"set-cookie", "trailer", "transfer-encoding", "upgrade", "vary", "www-authenticate");

	/** Headers that differ between attempts or between routes through proxies. */
	private static final Pattern HEADERS_OF_ONE_TRY = Pattern.compile(
			"age|baggage|b3|content-length|cookie|date|forwarded|traceparent|tracestate|via|x-amzn-trace-id|x-b3-.*"
					+ "|x-cloud-trace-context|x-correlation-id|x-forwarded-(by|for|port|proto|server)|x-real-ip|x-request-id");

	/** The maximum size of bodies, which are buffered in byte arrays. */
	private static final DataSize MAX_BODY = DataSize.ofGigabytes(1);

	private PropertyChecks() {
	}

	/** The bounds are those of the annotation. */
	static void duration(String name, Duration value) {
		require(value.compareTo(SHORTEST) >= 0 && value.compareTo(LONGEST) <= 0, name, text(value),
				"It must be a duration from 1ms to 36500d, such as 30s or 24h.");
	}

	static void notLonger(String name, Duration value, String other, Duration bound) {
		require(value.compareTo(bound) <= 0, name, text(value),
				"It must not be longer than 'idempotency." + other + "', which is " + text(bound) + ".");
	}

	/** Rejects the constants that only one operation can have. */
	static <E extends Enum<E>> void shared(String name, E value) {
		require(!OF_ONE_OPERATION.contains(value.name()), name, value.name().toLowerCase(Locale.ROOT),
				Stream.of(value.getDeclaringClass().getEnumConstants())
					.map(Enum::name)
					.filter((other) -> !OF_ONE_OPERATION.contains(other))
					.collect(Collectors.joining(" or ", "It must be ", ".")));
	}

	/** Writes a duration as a configuration does. */
	static String text(Duration value) {
		if (value.getNano() % 1_000_000 != 0) {
			return value.toString();
		}
		return DurationStyle.SIMPLE.print(value, (value.getNano() == 0) ? ChronoUnit.SECONDS : ChronoUnit.MILLIS);
	}

	static void positive(String name, DataSize value) {
		require(value.toBytes() > 0, name, value, "It must be larger than zero, such as 64MB.");
	}

	static void bodySize(String name, DataSize value) {
		positive(name, value);
		require(value.compareTo(MAX_BODY) <= 0, name, value,
				"It must not be larger than 1GB, because the body is buffered in memory.");
	}

	static void atLeast(int minimum, String name, int value) {
		require(value >= minimum, name, value, "It must be at least " + minimum + ".");
	}

	static void between(int minimum, int maximum, String name, int value) {
		require(value >= minimum && value <= maximum, name, value, "It must be " + minimum + " to " + maximum + ".");
	}

	static void anonymous(Anonymous anonymous, ScopeMode scope) {
		require(anonymous != Anonymous.REJECT || scope != ScopeMode.GLOBAL, "http.anonymous", "reject",
				"It must be 'share' if idempotency.scope is 'global', because global keys have no caller.");
	}

	static void node(String name, String value) {
		require(NODE.matcher(value).matches(), name, value,
				"It must have 1 to 64 printable ASCII characters without spaces.");
	}

	static void headerName(String name, String value) {
		require(HeaderKeyParser.isHeaderName(value), name, value,
				"It must be the name of an HTTP header, without spaces.");
	}

	static void addedHeader(String name, String value) {
		headerName(name, value);
		require(!HEADERS_OF_ANSWERS.contains(value.toLowerCase(Locale.ROOT)), name, value,
				"It must be a separate header, such as Idempotent-Replayed, because each replay sets it to true.");
	}

	static void headerNames(String name, List<String> values) {
		each(name, values, PropertyChecks::headerName);
	}

	/** Rejects headers whose values change between retries. */
	static void headersOfRetries(String name, List<String> values) {
		headerNames(name, values);
		each(name, values,
				(element, value) -> require(!HEADERS_OF_ONE_TRY.matcher(value.toLowerCase(Locale.ROOT)).matches(),
						element, value,
						"It must not change between retries. With this header, each retry would run again."));
	}

	static void statusPatterns(String name, List<String> values) {
		each(name, values, (element, value) -> require(HttpSettings.isStatusPattern(value), element, value,
				"It must be an error status such as 429, or a class of them (4xx or 5xx). The key of a successful "
						+ "call cannot be released."));
	}

	private static void each(String name, List<String> values, BiConsumer<String, String> check) {
		for (int i = 0; i < values.size(); i++) {
			check.accept(name + "[" + i + "]", values.get(i));
		}
	}

	/** A code follows, which must neither run into the base nor be lost in it. */
	static void typeBase(String name, String value) {
		boolean valid = value.matches(".*[/#:=]");
		try {
			valid = valid && URI.create(value + "code").isAbsolute();
		}
		catch (IllegalArgumentException ex) {
			valid = false;
		}
		require(valid, name, value,
				"It must be an absolute URI that ends with /, #, : or =, such as https://shop.example/errors/.");
	}

	static void path(String name, String value) {
		require(PATH.matcher(value).matches(), name, value, "It must be a path that starts with a slash.");
	}

	static void tableName(String name, String value) {
		require(Dialects.isTableName(value), name, value,
				"It must be a name of at most 50 letters, digits and underscores, optionally with a schema name "
						+ "and a dot before it.");
	}

	static void namespace(String name, String value) {
		require(NAMESPACE.matcher(value).matches(), name, value,
				"It must have at most 100 characters, and no colon or control character. The default is spring.application.name.");
	}

	static void keyPrefix(String name, String value) {
		require(KEY_PREFIX.matcher(value).matches(), name, value, "It must not contain spaces or control characters.");
	}

	private static void require(boolean valid, String name, Object value, String reason) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException("idempotency." + name, value, reason);
		}
	}

}
