package io.idempotency.key;

import java.util.regex.Pattern;

import io.idempotency.Internal;

/**
 * Checks names of HTTP headers: a name is a token of RFC 9110, section 5.6.2.
 *
 * @hidden
 */
@Internal
public final class HeaderName {

	private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

	private HeaderName() {
	}

	/** Returns whether a text can be the name of a header. */
	public static boolean isValid(String text) {
		return TOKEN.matcher(text).matches();
	}

}
