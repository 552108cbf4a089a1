package io.idempotency.interceptor;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads durations as people write them: {@code 500ms}, {@code 30s}, {@code 24h},
 * {@code 7d}, {@code PT24H}.
 */
final class DurationText {

	private static final Pattern SIMPLE = Pattern.compile("(\\d{1,18})\\s*(ms|s|m|h|d)");

	private static final Map<String, ChronoUnit> UNITS = Map.of("ms", ChronoUnit.MILLIS, "s", ChronoUnit.SECONDS, "m",
			ChronoUnit.MINUTES, "h", ChronoUnit.HOURS, "d", ChronoUnit.DAYS);

	/**
	 * The bounds suit all users of a duration: the expiry of a Redis key counts whole
	 * milliseconds, and the engine counts nanoseconds in a {@code long}.
	 */
	private static final Duration MIN = Duration.ofMillis(1);

	private static final Duration MAX = Duration.ofDays(36500);

	private DurationText() {
	}

	/**
	 * Reads a duration.
	 * @throws IllegalArgumentException if the text is no duration, or the duration is out
	 * of bounds
	 */
	static Duration parse(String text) {
		Duration duration = read(text.trim());
		if (duration.isZero() || duration.isNegative()) {
			throw new IllegalArgumentException("it must be positive");
		}
		if (duration.compareTo(MIN) < 0 || duration.compareTo(MAX) > 0) {
			throw new IllegalArgumentException("it must be between 1ms and 36500d");
		}
		return duration;
	}

	private static Duration read(String text) {
		Matcher simple = SIMPLE.matcher(text.toLowerCase(Locale.ROOT));
		try {
			if (simple.matches()) {
				return Duration.of(Long.parseLong(simple.group(1)), UNITS.get(simple.group(2)));
			}
			return Duration.parse(text);
		}
		catch (DateTimeParseException | ArithmeticException ex) {
			throw new IllegalArgumentException("it is not a duration", ex);
		}
	}

}
