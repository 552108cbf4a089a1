package io.idempotency.http.request;

import java.nio.ByteBuffer;

import io.idempotency.http.ByteSink;

/**
 * Reads one JSON text in UTF-8, as strictly as RFC 8259 and UTF-8 are. Text and numbers
 * go from the bytes of the text to where they are wanted, and become no objects on the
 * way. Not thread-safe.
 */
final class JsonReader {

	/** A number longer than this is beyond the bounds. */
	static final int MAX_NUMBER_LENGTH = 1000;

	/** What is read behind the end. */
	static final int END = -1;

	private final byte[] bytes;

	private final int start;

	private final int end;

	private int position;

	/**
	 * Creates a reader. A byte order mark is left out, as by the readers of handlers.
	 * @param text the text, in an array
	 */
	JsonReader(ByteBuffer text) {
		this.bytes = text.array();
		this.start = text.arrayOffset() + text.position();
		this.end = this.start + text.remaining();
		this.position = this.start;
		if (isAt(0, 0xEF) && isAt(1, 0xBB) && isAt(2, 0xBF)) {
			this.position += 3;
		}
	}

	private boolean isAt(int offset, int value) {
		return this.position + offset < this.end && (this.bytes[this.position + offset] & 0xFF) == value;
	}

	/** Returns the next byte that is no white space, and stays before it. */
	int peek() {
		while (this.position < this.end) {
			byte next = this.bytes[this.position];
			if (next != ' ' && next != '\n' && next != '\r' && next != '\t') {
				return next & 0xFF;
			}
			this.position++;
		}
		return END;
	}

	/** Steps over a byte if it is the next one after white space. */
	boolean skips(char wanted) {
		boolean found = peek() == wanted;
		if (found) {
			this.position++;
		}
		return found;
	}

	/** Steps over a byte that must come. */
	void skip(char wanted) throws MalformedJsonException {
		if (!skips(wanted)) {
			throw malformed();
		}
	}

	/** Steps over a name like {@code true}. */
	void literal(String name) throws MalformedJsonException {
		for (int i = 0; i < name.length(); i++) {
			if (!isAt(i, name.charAt(i))) {
				throw malformed();
			}
		}
		this.position += name.length();
	}

	/** Reads a number as it is written. */
	void number(ByteSink sink) throws MalformedJsonException {
		int first = this.position;
		if (isAt(0, '-')) {
			this.position++;
		}
		if (isAt(0, '0')) {
			this.position++;
		}
		else {
			digits();
		}
		if (isAt(0, '.')) {
			this.position++;
			digits();
		}
		if (isAt(0, 'e') || isAt(0, 'E')) {
			this.position++;
			if (isAt(0, '+') || isAt(0, '-')) {
				this.position++;
			}
			digits();
		}
		int length = this.position - first;
		if (length > MAX_NUMBER_LENGTH) {
			throw malformed();
		}
		sink.write(this.bytes, first, length);
	}

	private void digits() throws MalformedJsonException {
		int first = this.position;
		while (this.position < this.end && isDigit(this.bytes[this.position])) {
			this.position++;
		}
		if (this.position == first) {
			throw malformed();
		}
	}

	private static boolean isDigit(byte value) {
		return value >= '0' && value <= '9';
	}

	/** Reads a string from its first quote to its last, as the UTF-8 that it means. */
	void string(ByteSink sink) throws MalformedJsonException {
		skip('"');
		int from = this.position;
		while (true) {
			int next = next();
			if (next == '"' || next == '\\') {
				sink.write(this.bytes, from, this.position - 1 - from);
				if (next == '"') {
					return;
				}
				escape(sink);
				from = this.position;
			}
			else if (next < ' ') {
				throw malformed();
			}
			else if (next >= 0x80) {
				sequence(next);
			}
		}
	}

	private int next() throws MalformedJsonException {
		if (this.position == this.end) {
			throw malformed();
		}
		return this.bytes[this.position++] & 0xFF;
	}

	/**
	 * Steps over the rest of a sequence of UTF-8. Its second byte must say that no
	 * shorter sequence means the same, that it is half of no pair, and that it is within
	 * Unicode.
	 */
	private void sequence(int first) throws MalformedJsonException {
		if (first < 0xC2 || first > 0xF4) {
			throw malformed();
		}
		int least = (first == 0xE0) ? 0xA0 : (first == 0xF0) ? 0x90 : 0x80;
		int most = (first == 0xED) ? 0x9F : (first == 0xF4) ? 0x8F : 0xBF;
		int second = next();
		if (second < least || second > most) {
			throw malformed();
		}
		for (int more = (first >= 0xF0) ? 2 : (first >= 0xE0) ? 1 : 0; more > 0; more--) {
			if ((next() & 0xC0) != 0x80) {
				throw malformed();
			}
		}
	}

	private void escape(ByteSink sink) throws MalformedJsonException {
		int escaped = next();
		switch (escaped) {
			case '"', '\\', '/' -> sink.write(escaped);
			case 'b' -> sink.write('\b');
			case 'f' -> sink.write('\f');
			case 'n' -> sink.write('\n');
			case 'r' -> sink.write('\r');
			case 't' -> sink.write('\t');
			case 'u' -> {
				char unit = unit();
				if (!Character.isSurrogate(unit)) {
					sink.writeUtf8(unit);
					return;
				}
				if (!Character.isHighSurrogate(unit) || next() != '\\' || next() != 'u') {
					throw malformed();
				}
				char low = unit();
				if (!Character.isLowSurrogate(low)) {
					throw malformed();
				}
				sink.writeUtf8(Character.toCodePoint(unit, low));
			}
			default -> throw malformed();
		}
	}

	/** Reads four hexadecimal digits. */
	private char unit() throws MalformedJsonException {
		int unit = 0;
		for (int i = 0; i < 4; i++) {
			int digit = Character.digit(next(), 16);
			if (digit < 0) {
				throw malformed();
			}
			unit = unit << 4 | digit;
		}
		return (char) unit;
	}

	MalformedJsonException malformed() {
		return new MalformedJsonException("Malformed at byte " + (this.position - this.start));
	}

}
