package io.idempotency.http;

import java.nio.CharBuffer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The tokens of one JSON text, read by the generation of Jackson that the application
 * has. Strict as RFC 8259; a number stays as it is written. Not thread-safe.
 */
abstract class JsonTokenReader implements AutoCloseable {

	/** A structure nested deeper than this is beyond the bounds. */
	static final int MAX_DEPTH = 512;

	/** A number longer than this is beyond the bounds. */
	static final int MAX_NUMBER_LENGTH = 1000;

	/**
	 * Opens a text, {@code null} without Jackson. Both generations read the same values,
	 * so all nodes compare alike during a rollout that changes from one generation to the
	 * other.
	 */
	static final @Nullable Function<CharBuffer, JsonTokenReader> READER = reader();

	private static final char[] NONE = {};

	/** Holds the characters of a name, a text or a number until the next token. */
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
	 * @return its kind, {@link Kind#END} behind the last
	 * @throws MalformedJsonException if the text is malformed or beyond the bounds
	 */
	abstract Kind next() throws MalformedJsonException;

	/** Returns the name, the text or the number that is the current token. */
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

		/** Returns whether the token has characters of its own. */
		boolean isText() {
			return this == NAME || this == TEXT || this == INTEGER || this == DECIMAL;
		}

	}

	/**
	 * A JSON number that keeps the way it is written, and is never expanded. Immutable.
	 */
	static final class JsonNumber extends Number {

		private static final long serialVersionUID = 1L;

		private static final int MAX_LONG_DIGITS = 18;

		private final String text;

		private JsonNumber(String text) {
			this.text = text;
		}

		/**
		 * Returns a {@link Long} if that is written the same way, so that expressions can
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
	 * A body is no JSON text of RFC 8259 in UTF-8, or is beyond the bounds. The exception
	 * carries no stack trace.
	 */
	static final class MalformedJsonException extends Exception {

		private static final long serialVersionUID = 1L;

		MalformedJsonException(String message) {
			super(message, null, false, false);
		}

	}

}
