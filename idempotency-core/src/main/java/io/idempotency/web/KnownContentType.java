package io.idempotency.web;

import org.jspecify.annotations.Nullable;

/**
 * Content types that most answers have. A stored answer has the number of one instead of
 * its text. The ordinal is stored, so constants are never reordered and only appended.
 */
enum KnownContentType {

	JSON("application/json"),

	JSON_UTF8("application/json;charset=UTF-8"),

	PROBLEM_JSON("application/problem+json"),

	TEXT_UTF8("text/plain;charset=UTF-8"),

	TEXT("text/plain"),

	HTML_UTF8("text/html;charset=UTF-8"),

	HTML("text/html"),

	XML("application/xml"),

	PROBLEM_XML("application/problem+xml"),

	HAL_JSON("application/hal+json");

	/** Room for more of them, below the lengths of other content types. */
	static final int ROOM = 32;

	private static final KnownContentType[] ALL = values();

	private final String text;

	KnownContentType(String text) {
		this.text = text;
	}

	/** Returns the constant for a text, {@code null} if there is none. */
	static @Nullable KnownContentType of(@Nullable String text) {
		for (KnownContentType known : ALL) {
			if (known.text.equals(text)) {
				return known;
			}
		}
		return null;
	}

	/** Returns the constant of a number, {@code null} if there is none. */
	static @Nullable KnownContentType of(long number) {
		return (number >= 0 && number < ALL.length) ? ALL[(int) number] : null;
	}

	String text() {
		return this.text;
	}

}
