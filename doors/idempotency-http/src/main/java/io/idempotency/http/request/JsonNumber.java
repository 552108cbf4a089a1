package io.idempotency.http.request;

import org.jspecify.annotations.Nullable;

/**
 * A JSON number that keeps the way it is written, and is never expanded. Immutable.
 */
final class JsonNumber extends Number {

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
