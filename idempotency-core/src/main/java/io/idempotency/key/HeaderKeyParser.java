package io.idempotency.key;

import java.util.List;
import java.util.regex.Pattern;

import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Parses the key from the values of a header. The value is a String of RFC 8941
 * (structured fields), whose well-formed parameters are ignored, or an unquoted value.
 * Both forms result in the same key. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class HeaderKeyParser {

	/** A token of RFC 9110, section 5.6.2. */
	private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

	private final int maxLength;

	/**
	 * Creates a parser.
	 * @param maxLength the maximum number of characters of a key, positive
	 */
	public HeaderKeyParser(int maxLength) {
		if (maxLength < 1) {
			throw new IllegalArgumentException("maxLength must be positive, not " + maxLength);
		}
		this.maxLength = maxLength;
	}

	/** Returns whether a text is a valid HTTP header name. */
	public static boolean isHeaderName(String text) {
		return TOKEN.matcher(text).matches();
	}

	/**
	 * Parses the key.
	 * @param operation name of the operation, for the exception
	 * @param lines the values of the header, one for each header line
	 * @return the key, {@code null} if the header is missing
	 * @throws IdempotencyKeyInvalidException if the header is malformed; the message
	 * contains the problem and the action
	 */
	public @Nullable String parse(String operation, List<String> lines) {
		if (lines.isEmpty()) {
			return null;
		}
		if (lines.size() > 1) {
			throw invalid(operation, "was sent " + lines.size() + " times. Send it once");
		}
		String line = trim(lines.get(0));
		return line.startsWith("\"") ? quoted(operation, line) : bare(operation, line);
	}

	private String bare(String operation, String line) {
		for (int i = 0; i < line.length(); i++) {
			char c = line.charAt(i);
			if (c == '"' || c == ',' || c == ';') {
				throw invalid(operation, "contains the character '" + c + "'. Send one key, as a quoted string if "
						+ "it has special characters");
			}
			requirePrintable(operation, c);
		}
		return checked(operation, line);
	}

	private String quoted(String operation, String line) {
		StringBuilder key = new StringBuilder(line.length());
		int i = 1;
		while (i < line.length() && line.charAt(i) != '"') {
			char c = line.charAt(i);
			if (c == '\\') {
				i++;
				if (i == line.length() || (line.charAt(i) != '"' && line.charAt(i) != '\\')) {
					throw invalid(operation,
							"has a backslash that escapes neither a quote nor a backslash. Correct the escape");
				}
				c = line.charAt(i);
			}
			requirePrintable(operation, c);
			key.append(c);
			i++;
		}
		if (i == line.length()) {
			throw invalid(operation, "has no closing quote. Add it");
		}
		String rest = line.substring(i + 1);
		if (!rest.isEmpty() && !FieldParameterParser.areWellFormed(rest)) {
			throw invalid(operation, "has invalid text after the closing quote. Send a single quoted string");
		}
		return checked(operation, key.toString());
	}

	private void requirePrintable(String operation, char c) {
		if (c <= ' ' || c > '~') {
			throw invalid(operation, "contains a space, a control character or a non-ASCII character. Use "
					+ "printable ASCII without spaces");
		}
	}

	private String checked(String operation, String key) {
		if (key.isEmpty()) {
			throw invalid(operation, "is empty. Send 1 to " + this.maxLength + " characters");
		}
		if (key.length() > this.maxLength) {
			throw invalid(operation,
					"has " + key.length() + " characters. Send 1 to " + this.maxLength + " characters");
		}
		return key;
	}

	/**
	 * Removes blanks around the value. A servlet container already removes them, but a
	 * header from another source may contain them.
	 */
	private static String trim(String line) {
		int start = 0;
		int end = line.length();
		while (start < end && isBlank(line.charAt(start))) {
			start++;
		}
		while (end > start && isBlank(line.charAt(end - 1))) {
			end--;
		}
		return line.substring(start, end);
	}

	private static boolean isBlank(char c) {
		return c == ' ' || c == '\t';
	}

	/**
	 * Creates the exception without the value, because the message may appear in a
	 * response or in a log.
	 */
	private static IdempotencyKeyInvalidException invalid(String operation, String problem) {
		return new IdempotencyKeyInvalidException(operation, "The key header " + problem);
	}

}
