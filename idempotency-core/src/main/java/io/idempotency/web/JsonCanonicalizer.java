package io.idempotency.web;

import java.util.Arrays;
import java.util.Comparator;

import org.jspecify.annotations.Nullable;

/**
 * Brings a JSON text into a form that is equal for equal values: white space, the order
 * of members and the way a string is escaped do not count; the order of an array,
 * {@code null} and the way a number is written do.
 * <p>
 * The form is for comparison only. Every value ends by itself: a string by a byte that
 * UTF-8 never has, a number by a zero. An object inside is its digest, so that a deep
 * text is not moved again on each level when its members are sorted.
 */
final class JsonCanonicalizer {

	private static final int END_OF_STRING = 0xFF;

	private static final int END_OF_NUMBER = 0;

	/** A shorter object is not worth a digest. */
	private static final int DIGEST_FROM = 64;

	private final JsonScanner scanner;

	private final ByteSink sink;

	private JsonCanonicalizer(byte[] json) {
		this.scanner = new JsonScanner(json);
		this.sink = new ByteSink(json.length + 16);
	}

	/**
	 * The form of a text.
	 * @param json the text
	 * @return the form, {@code null} if the text cannot be compared by value: malformed,
	 * not UTF-8, nested too deep, with a number that is too long, or with a member twice
	 */
	static byte @Nullable [] canonicalize(byte[] json) {
		JsonCanonicalizer canonicalizer = new JsonCanonicalizer(json);
		try {
			canonicalizer.value(0);
			canonicalizer.scanner.expectEnd();
			return canonicalizer.sink.toByteArray();
		}
		catch (MalformedJsonException ex) {
			return null;
		}
	}

	private void value(int depth) throws MalformedJsonException {
		if (depth > JsonScanner.MAX_DEPTH) {
			throw new MalformedJsonException("Nested too deep");
		}
		switch (this.scanner.peek()) {
			case '{' -> object(depth);
			case '[' -> array(depth);
			case '"' -> string();
			case 't' -> literal("true");
			case 'f' -> literal("false");
			case 'n' -> literal("null");
			default -> number();
		}
	}

	private void object(int depth) throws MalformedJsonException {
		this.scanner.expect('{');
		int start = this.sink.size();
		this.sink.write('{');
		Members members = new Members();
		if (!this.scanner.skip('}')) {
			do {
				members.start(this.sink.size());
				string();
				this.scanner.expect(':');
				value(depth + 1);
			}
			while (this.scanner.skip(','));
			this.scanner.expect('}');
			members.sort(this.sink);
		}
		this.sink.write('}');
		if (depth > 0 && this.sink.size() - start >= DIGEST_FROM) {
			digest(start);
		}
	}

	private void digest(int start) {
		byte[] digest = Sha256.of(this.sink.array(), start, this.sink.size() - start);
		this.sink.truncate(start);
		this.sink.write('#');
		this.sink.write(digest, 0, digest.length);
	}

	private void array(int depth) throws MalformedJsonException {
		this.scanner.expect('[');
		this.sink.write('[');
		if (!this.scanner.skip(']')) {
			do {
				value(depth + 1);
			}
			while (this.scanner.skip(','));
			this.scanner.expect(']');
		}
		this.sink.write(']');
	}

	private void string() throws MalformedJsonException {
		this.sink.write('"');
		this.scanner.string(this.sink);
		this.sink.write(END_OF_STRING);
	}

	private void number() throws MalformedJsonException {
		this.sink.write('0');
		this.scanner.number(this.sink);
		this.sink.write(END_OF_NUMBER);
	}

	private void literal(String literal) throws MalformedJsonException {
		this.scanner.literal(literal);
		this.sink.write(literal.charAt(0));
	}

	/** The members of one object, as pieces of the sink that start with their names. */
	private static final class Members {

		private int[] starts = new int[8];

		private int count;

		void start(int position) {
			if (this.count == this.starts.length) {
				this.starts = Arrays.copyOf(this.starts, 2 * this.count);
			}
			this.starts[this.count++] = position;
		}

		void sort(ByteSink sink) throws MalformedJsonException {
			byte[] bytes = sink.array();
			if (isSorted(bytes)) {
				return;
			}
			Integer[] order = new Integer[this.count];
			Arrays.setAll(order, (i) -> i);
			Comparator<Integer> byName = (a, b) -> compareNames(bytes, this.starts[a], this.starts[b]);
			Arrays.sort(order, byName);
			for (int i = 1; i < this.count; i++) {
				if (byName.compare(order[i - 1], order[i]) == 0) {
					throw new MalformedJsonException("A member is there twice");
				}
			}
			rearrange(sink, order);
		}

		private boolean isSorted(byte[] bytes) {
			for (int i = 1; i < this.count; i++) {
				if (compareNames(bytes, this.starts[i - 1], this.starts[i]) >= 0) {
					return false;
				}
			}
			return true;
		}

		private void rearrange(ByteSink sink, Integer[] order) {
			int start = this.starts[0];
			int end = sink.size();
			byte[] members = Arrays.copyOfRange(sink.array(), start, end);
			sink.truncate(start);
			for (int i : order) {
				int next = (i + 1 < this.count) ? this.starts[i + 1] : end;
				sink.write(members, this.starts[i] - start, next - this.starts[i]);
			}
		}

		/** Both names end with a byte that is in none of them. */
		private static int compareNames(byte[] bytes, int a, int b) {
			int i = 0;
			while (bytes[a + i] == bytes[b + i]) {
				if ((bytes[a + i] & 0xFF) == END_OF_STRING) {
					return 0;
				}
				i++;
			}
			return Byte.compareUnsigned(bytes[a + i], bytes[b + i]);
		}

	}

}
