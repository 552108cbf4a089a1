package io.idempotency.http;

import java.nio.CharBuffer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Reads the tokens of one JSON text with the Jackson version of the application. Follows
 * RFC 8259 strictly. Numbers keep their notation. Not thread-safe.
 */
abstract class JsonTokenReader implements AutoCloseable {

	/** Maximum nesting depth. */
	static final int MAX_DEPTH = 512;

	/** Maximum length of a number. */
	static final int MAX_NUMBER_LENGTH = 1000;

	/**
	 * Opens a text, {@code null} without Jackson. Both Jackson versions read the same
	 * values. All nodes therefore compare requests equally while a rollout changes the
	 * version.
	 */
	static final @Nullable Function<CharBuffer, JsonTokenReader> READER = reader();

	private static final char[] NONE = {};

	/** The characters of a name, a text or a number until the next token. */
	char[] characters = NONE;

	int offset;

	int length;

	private static @Nullable Function<CharBuffer, JsonTokenReader> reader() {
		ClassLoader classLoader = JsonTokenReader.class.getClassLoader();
		if (ClassUtils.isPresent("tools.jackson.core.json.JsonFactory", classLoader)) {
			return Jackson3TokenReader::new;
		}
		return ClassUtils.isPresent("com.fasterxml.jackson.core.JsonFactory", classLoader) ? Jackson2TokenReader::new
				: null;
	}

	static Function<CharBuffer, JsonTokenReader> required() throws MalformedJsonException {
		if (READER == null) {
			throw new MalformedJsonException("Jackson, which reads it, is not on the class path");
		}
		return READER;
	}

	/**
	 * Reads the next token.
	 * @return its kind, {@link Kind#END} after the last token
	 * @throws MalformedJsonException if the text is malformed or exceeds the limits
	 */
	abstract Kind next() throws MalformedJsonException;

	/** Returns the name, the text or the number of the current token. */
	final String text() {
		return new String(this.characters, this.offset, this.length);
	}

	@Override
	public abstract void close();

	/** The kinds of tokens, in the order of Jackson's {@code JsonTokenId}. */
	enum Kind {

		END, OBJECT, END_OBJECT, ARRAY, END_ARRAY, NAME, TEXT, INTEGER, DECIMAL, TRUE, FALSE, NULL;

		private static final Kind[] BY_ID = values();

		static Kind of(int id) {
			return BY_ID[id];
		}

		/** Returns whether the token has characters. */
		boolean isText() {
			return this == NAME || this == TEXT || this == INTEGER || this == DECIMAL;
		}

	}

	/** A JSON number that keeps its notation and is never expanded. Immutable. */
	static final class JsonNumber extends Number {

		private static final long serialVersionUID = 1L;

		private static final int MAX_LONG_DIGITS = 18;

		private final String text;

		private JsonNumber(String text) {
			this.text = text;
		}

		/**
		 * Returns a {@link Long} if its notation is the same, so that expressions can
		 * calculate with it.
		 */
		static Number of(String text) {
			boolean integer = text.length() <= MAX_LONG_DIGITS && text.chars().noneMatch((c) -> ".eE".indexOf(c) >= 0);
			return (integer && !"-0".equals(text)) ? Long.parseLong(text) : new JsonNumber(text);
		}

		@Override
		public int intValue() {
			return (int) doubleValue();
		}

		@Override
		public long longValue() {
			return (long) doubleValue();
		}

		@Override
		public float floatValue() {
			return Float.parseFloat(this.text);
		}

		@Override
		public double doubleValue() {
			return Double.parseDouble(this.text);
		}

		@Override
		public boolean equals(@Nullable Object obj) {
			return obj instanceof JsonNumber other && this.text.equals(other.text);
		}

		@Override
		public int hashCode() {
			return this.text.hashCode();
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

	/**
	 * Thrown if a body is not a JSON text (RFC 8259) in UTF-8, or exceeds the limits. The
	 * exception has no stack trace.
	 */
	static final class MalformedJsonException extends Exception {

		private static final long serialVersionUID = 1L;

		MalformedJsonException(String message) {
			super(message, null, false, false);
		}

	}

}
