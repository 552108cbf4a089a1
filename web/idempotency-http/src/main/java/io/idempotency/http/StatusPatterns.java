package io.idempotency.http;

import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import io.idempotency.Internal;

/**
 * A set of HTTP status codes of failures, given as codes and classes of codes:
 * {@code 429}, {@code 5xx}. Immutable.
 *
 * @hidden
 */
@Internal
public final class StatusPatterns {

	// This constant stands first, because the next one needs it.
	private static final Pattern PATTERN = Pattern.compile("[45](?:[0-9][0-9]|xx)");

	/** The default of {@code idempotency.http.release-on}. */
	public static final StatusPatterns RELEASE_ON = parse(List.of("401", "403", "408", "425", "429", "5xx"));

	private static final int MIN = 400;

	private static final int MAX = 599;

	private final BitSet codes = new BitSet(MAX + 1);

	private StatusPatterns() {
	}

	/**
	 * Reads patterns.
	 * @param patterns codes from 400 to 599, {@code 4xx} or {@code 5xx}
	 * @return the set of codes
	 * @throws IllegalArgumentException if a pattern is neither; the message quotes it
	 */
	public static StatusPatterns parse(Collection<String> patterns) {
		StatusPatterns parsed = new StatusPatterns();
		for (String pattern : patterns) {
			parsed.add(pattern.strip().toLowerCase(Locale.ROOT));
		}
		return parsed;
	}

	/**
	 * Returns whether a text is a pattern.
	 * @return whether it is a code from 400 to 599, {@code 4xx} or {@code 5xx}
	 */
	public static boolean isValid(String pattern) {
		return PATTERN.matcher(pattern.strip().toLowerCase(Locale.ROOT)).matches();
	}

	private void add(String pattern) {
		if (!isValid(pattern)) {
			throw new IllegalArgumentException(
					"'" + pattern + "' is neither the status of a failure such as 429 nor a class of them: 4xx or 5xx");
		}
		if (pattern.endsWith("xx")) {
			int first = (pattern.charAt(0) - '0') * 100;
			this.codes.set(first, first + 100);
		}
		else {
			this.codes.set(Integer.parseInt(pattern));
		}
	}

	/**
	 * Returns whether a code is in the set.
	 * @return whether it is in the set; {@code false} for a number that is no status code
	 */
	public boolean contains(int status) {
		return status >= MIN && status <= MAX && this.codes.get(status);
	}

	@Override
	public String toString() {
		return this.codes.toString();
	}

}
