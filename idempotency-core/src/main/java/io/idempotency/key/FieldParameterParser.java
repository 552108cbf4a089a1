package io.idempotency.key;

/** Checks the parameters of a structured field (RFC 8941, 3.1.2). */
final class FieldParameterParser {

	private static final int MAX_INTEGER_DIGITS = 15;

	private static final int MAX_DECIMAL_DIGITS = 12;

	private static final int MAX_FRACTION_DIGITS = 3;

	private final String text;

	private int position;

	private FieldParameterParser(String text) {
		this.text = text;
	}

	/**
	 * Returns whether a text consists only of a list of parameters.
	 * @param text the text after the value of a field
	 */
	static boolean areWellFormed(String text) {
		FieldParameterParser parameters = new FieldParameterParser(text);
		while (!parameters.atEnd()) {
			if (!parameters.parameter()) {
				return false;
			}
		}
		return true;
	}

	private boolean parameter() {
		if (!skip(';')) {
			return false;
		}
		while (skip(' ')) {
			continue;
		}
		if (!name()) {
			return false;
		}
		return !skip('=') || value();
	}

	private boolean name() {
		if (!isLowerCase(peek()) && peek() != '*') {
			return false;
		}
		while (isLowerCase(peek()) || isDigit(peek()) || "_-.*".indexOf(peek()) >= 0) {
			this.position++;
		}
		return true;
	}

	private boolean value() {
		char first = peek();
		if (first == '"') {
			return string();
		}
		if (first == ':') {
			return bytes();
		}
		if (first == '?') {
			this.position++;
			return skip('0') || skip('1');
		}
		if (first == '-' || isDigit(first)) {
			return number();
		}
		return token();
	}

	private boolean string() {
		this.position++;
		while (!atEnd()) {
			char c = next();
			if (c == '"') {
				return true;
			}
			if (c == '\\') {
				c = next();
				if (c != '"' && c != '\\') {
					return false;
				}
			}
			if (c < ' ' || c > '~') {
				return false;
			}
		}
		return false;
	}

	private boolean bytes() {
		this.position++;
		while (isLowerCase(peek()) || isUpperCase(peek()) || isDigit(peek()) || "+/=".indexOf(peek()) >= 0) {
			this.position++;
		}
		return skip(':');
	}

	private boolean number() {
		skip('-');
		int digits = digits();
		if (!skip('.')) {
			return digits >= 1 && digits <= MAX_INTEGER_DIGITS;
		}
		int fraction = digits();
		return digits >= 1 && digits <= MAX_DECIMAL_DIGITS && fraction >= 1 && fraction <= MAX_FRACTION_DIGITS;
	}

	private int digits() {
		int start = this.position;
		while (isDigit(peek())) {
			this.position++;
		}
		return this.position - start;
	}

	private boolean token() {
		if (!isLowerCase(peek()) && !isUpperCase(peek()) && peek() != '*') {
			return false;
		}
		while (isLowerCase(peek()) || isUpperCase(peek()) || isDigit(peek())
				|| "!#$%&'*+-.^_`|~:/".indexOf(peek()) >= 0) {
			this.position++;
		}
		return true;
	}

	private boolean atEnd() {
		return this.position >= this.text.length();
	}

	/**
	 * Returns the next character or, at the end, a control character that is never valid.
	 */
	private char peek() {
		return atEnd() ? '\0' : this.text.charAt(this.position);
	}

	private char next() {
		char c = peek();
		this.position++;
		return c;
	}

	private boolean skip(char expected) {
		if (peek() != expected) {
			return false;
		}
		this.position++;
		return true;
	}

	private static boolean isDigit(char c) {
		return c >= '0' && c <= '9';
	}

	private static boolean isLowerCase(char c) {
		return c >= 'a' && c <= 'z';
	}

	private static boolean isUpperCase(char c) {
		return c >= 'A' && c <= 'Z';
	}

}
