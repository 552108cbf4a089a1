package io.idempotency.client;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/** Reads the header Retry-After: seconds or a date (RFC 9110, section 10.2.3). */
final class RetryAfter {

	/** More digits than any sensible number of seconds has. */
	private static final Pattern SECONDS = Pattern.compile("\\d{1,9}");

	private RetryAfter() {
	}

	/**
	 * Reads a value.
	 * @return how long to wait, never negative; {@code null} if the value is missing or
	 * cannot be read
	 */
	static @Nullable Duration parse(@Nullable String value, Instant now) {
		if (value == null) {
			return null;
		}
		String text = value.strip();
		if (SECONDS.matcher(text).matches()) {
			return Duration.ofSeconds(Long.parseLong(text));
		}
		try {
			Instant date = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text));
			return date.isAfter(now) ? Duration.between(now, date) : Duration.ZERO;
		}
		catch (DateTimeException ex) {
			return null; // what cannot be read counts as absent
		}
	}

}
