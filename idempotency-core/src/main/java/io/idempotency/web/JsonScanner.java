package io.idempotency.web;

/**
 * Reads the tokens of a JSON text in UTF-8, strictly as RFC 8259 has them; never expands
 * a number and never looks back. Not thread-safe.
 */
final class JsonScanner {

	/** A structure nested deeper than this is beyond the bounds. */
	static final int MAX_DEPTH = 512;

	/** A number longer than this is beyond the bounds. */
	static final int MAX_NUMBER_LENGTH = 1000;

	/** What {@link #peek()} gives at the end. */
	static final int END = -1;

	private final byte[] bytes;

	private int position;

	JsonScanner(byte[] bytes) {
		this.bytes = bytes;
	}

	/** The first byte of the next token. */
	int peek() {
		while (this.position < this.bytes.length) {
			int next = this.bytes[this.position];
			if (next != ' ' && next != '\n' && next != '\r' && next != '\t') {
				return next & 0xFF;
			}
			this.position++;
		}
		return END;
	}

	/** Reads a structural character. */
	void expect(char token) throws MalformedJsonException {
		if (peek() != token) {
			throw malformed();
		}
		this.position++;
	}

	/** Reads a structural character, if it is the next. */
	boolean skip(char token) {
		if (peek() != token) {
			return false;
		}
		this.position++;
		return true;
	}

	void expectEnd() throws MalformedJsonException {
		if (peek() != END) {
			throw malformed();
		}
	}

	void literal(String literal) throws MalformedJsonException {
		for (int i = 0; i < literal.length(); i++) {
			if (current() != literal.charAt(i)) {
				throw malformed();
			}
			this.position++;
		}
	}

	/** Reads a number into the sink as it is written. */
	void number(ByteSink sink) throws MalformedJsonException {
		int start = this.position;
		skipByte('-');
		if (!skipByte('0')) {
			digits();
		}
		if (skipByte('.')) {
			digits();
		}
		if (skipByte('e') || skipByte('E')) {
			if (!skipByte('+')) {
				skipByte('-');
			}
			digits();
		}
		int length = this.position - start;
		if (length > MAX_NUMBER_LENGTH) {
			throw new MalformedJsonException("A number is too long");
		}
		sink.write(this.bytes, start, length);
	}

	private void digits() throws MalformedJsonException {
		int start = this.position;
		while (current() >= '0' && current() <= '9') {
			this.position++;
		}
		if (this.position == start) {
			throw malformed();
		}
	}

	/** Reads a string into the sink as the UTF-8 of its value. */
	void string(ByteSink sink) throws MalformedJsonException {
		expect('"');
		while (true) {
			int start = this.position;
			while (isPlain(current())) {
				this.position++;
			}
			sink.write(this.bytes, start, this.position - start);
			int next = current();
			if (next == '"') {
				this.position++;
				return;
			}
			if (next == '\\') {
				this.position++;
				escape(sink);
			}
			else {
				multiByte(sink);
			}
		}
	}

	private static boolean isPlain(int value) {
		return value >= ' ' && value < 0x80 && value != '"' && value != '\\';
	}

	private void escape(ByteSink sink) throws MalformedJsonException {
		int escaped = current();
		this.position++;
		int plain = "\"\\/bfnrt".indexOf(escaped);
		if (plain >= 0) {
			sink.write("\"\\/\b\f\n\r\t".charAt(plain));
		}
		else if (escaped == 'u') {
			Utf8.write(escapedCodePoint(), sink);
		}
		else {
			throw malformed();
		}
	}

	private int escapedCodePoint() throws MalformedJsonException {
		char first = fourHexDigits();
		if (!Character.isSurrogate(first)) {
			return first;
		}
		literal("\\u");
		char second = fourHexDigits();
		if (!Character.isSurrogatePair(first, second)) {
			throw malformed();
		}
		return Character.toCodePoint(first, second);
	}

	private char fourHexDigits() throws MalformedJsonException {
		int value = 0;
		for (int i = 0; i < 4; i++) {
			int digit = (current() < 0x80) ? Character.digit(current(), 16) : -1;
			if (digit < 0) {
				throw malformed();
			}
			value = (value << 4) | digit;
			this.position++;
		}
		return (char) value;
	}

	private void multiByte(ByteSink sink) throws MalformedJsonException {
		int length = Utf8.lengthOfMultiByte(this.bytes, this.position);
		if (length == 0) {
			throw malformed();
		}
		sink.write(this.bytes, this.position, length);
		this.position += length;
	}

	private int current() {
		return (this.position < this.bytes.length) ? this.bytes[this.position] & 0xFF : END;
	}

	private boolean skipByte(char value) {
		if (current() != value) {
			return false;
		}
		this.position++;
		return true;
	}

	MalformedJsonException malformed() {
		return new MalformedJsonException("Malformed at byte " + this.position);
	}

}
