package io.idempotency.http;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.idempotency.http.JsonTokenReader.Kind;
import io.idempotency.http.JsonTokenReader.MalformedJsonException;
import io.idempotency.key.Fingerprint;
import org.jspecify.annotations.Nullable;

/**
 * The results of one pass through a JSON text: the canonical form for comparison, and the
 * value at a JSON Pointer (RFC 6901).
 * <p>
 * Equal values have equal forms. Whitespace, the order of properties, the escapes of a
 * string and the notation of a number ({@code 1}, {@code 1.0}, {@code 1e0}) do not count.
 * The order of an array and {@code null} count. Numbers are exact decimals. The form is
 * for comparison only.
 * <p>
 * Every value has a terminator: a string ends with a byte that does not occur in UTF-8,
 * and a number ends with a zero. A digest replaces a large object, so that a deeply
 * nested text is not copied on each level when the properties are sorted.
 */
final class JsonBody {

	static final int END_OF_STRING = 0xFF;

	private static final int END_OF_NUMBER = 0;

	/** Limits the exponent, so that adding a number of digits does not overflow. */
	private static final int MAX_EXPONENT_DIGITS = 9;

	/**
	 * The minimum size in bytes of an object that is replaced by its digest. Copying a
	 * smaller object is as fast as computing its digest.
	 */
	private static final int DIGEST_FROM = 1024;

	private static final int OFF_THE_WAY = -1;

	private final JsonTokenReader tokens;

	private final List<String> pointer;

	private final ByteArrayBuffer form;

	private boolean comparable = true;

	private boolean structure;

	private @Nullable Object found;

	private JsonBody(JsonTokenReader tokens, List<String> pointer, ByteArrayBuffer form) {
		this.tokens = tokens;
		this.pointer = pointer;
		this.form = form;
	}

	/**
	 * Reads a body to its end.
	 * @param body the body in UTF-8, backed by an array
	 * @param pointer points to the requested value, {@code ""} for the whole text
	 * @return the results
	 * @throws MalformedJsonException if the text is not in UTF-8, is malformed or exceeds
	 * the limits; if a property on the path to the value is duplicate, so that two
	 * readers may find different values; or if Jackson is not present
	 */
	static JsonBody read(ByteBuffer body, String pointer) throws MalformedJsonException {
		return read(body, pointer, JsonTokenReader.required());
	}

	static JsonBody read(ByteBuffer body, String pointer, Function<CharBuffer, JsonTokenReader> reader)
			throws MalformedJsonException {
		try {
			return walk(StandardCharsets.UTF_8.newDecoder().decode(body.duplicate()), pointer, reader);
		}
		catch (CharacterCodingException ex) {
			throw new MalformedJsonException("It is not encoded in UTF-8");
		}
	}

	/**
	 * Reads a text to its end, as {@link #read(ByteBuffer, String)} does.
	 * @param text the text, backed by an array
	 */
	static JsonBody read(CharBuffer text, String pointer) throws MalformedJsonException {
		return walk(text, pointer, JsonTokenReader.required());
	}

	private static JsonBody walk(CharBuffer text, String pointer, Function<CharBuffer, JsonTokenReader> reader)
			throws MalformedJsonException {
		int size = text.remaining();
		if (text.hasRemaining() && text.get(text.position()) == '\uFEFF') {
			// The readers of handlers also skip a byte order mark.
			text.get();
		}
		try (JsonTokenReader tokens = reader.apply(text)) {
			JsonBody body = new JsonBody(tokens, namesOf(pointer), new ByteArrayBuffer(size + size / 4 + 16));
			body.value(tokens.next(), 0);
			if (tokens.next() != Kind.END) {
				throw new MalformedJsonException("It has content after its end");
			}
			return body;
		}
	}

	private static List<String> namesOf(String pointer) {
		if (pointer.isEmpty()) {
			return List.of();
		}
		List<String> names = new ArrayList<>();
		for (String token : pointer.substring(1).split("/", -1)) {
			names.add(token.replace("~1", "/").replace("~0", "~"));
		}
		return names;
	}

	/**
	 * Returns the canonical form of the text.
	 * @return the bytes; {@code null} if the text cannot be compared by value, because it
	 * has a duplicate property or an exponent beyond the limit
	 */
	@Nullable ByteBuffer comparable() {
		return this.comparable ? this.form.toBuffer() : null;
	}

	/**
	 * Returns the value at the pointer.
	 * @return text, a number or a boolean; {@code null} if the value is absent or null
	 * @throws IllegalArgumentException if the value is an array or an object
	 */
	@Nullable Object value() {
		if (this.structure) {
			throw new IllegalArgumentException("The value is an array or an object");
		}
		return this.found;
	}

	/**
	 * Reads one value.
	 * @param kind the first token of the value
	 * @param level the number of pointer segments on the path to the value, or
	 * {@link #OFF_THE_WAY}
	 */
	private void value(Kind kind, int level) throws MalformedJsonException {
		boolean here = level == this.pointer.size();
		switch (kind) {
			case OBJECT -> {
				this.structure |= here;
				object(here ? OFF_THE_WAY : level);
			}
			case ARRAY -> {
				this.structure |= here;
				array(here ? OFF_THE_WAY : level);
			}
			case TEXT -> string();
			case INTEGER, DECIMAL -> number();
			case TRUE, FALSE, NULL -> this.form.write(kind.name().charAt(0));
			default -> throw new MalformedJsonException("It is empty");
		}
		if (here) {
			this.found = scalar(kind);
		}
	}

	private @Nullable Object scalar(Kind kind) {
		return switch (kind) {
			case TEXT -> this.tokens.text();
			case INTEGER, DECIMAL -> JsonTokenReader.JsonNumber.of(this.tokens.text());
			case TRUE, FALSE -> kind == Kind.TRUE;
			default -> null;
		};
	}

	private void object(int level) throws MalformedJsonException {
		String wanted = (level != OFF_THE_WAY) ? this.pointer.get(level) : null;
		boolean seen = false;
		int start = this.form.size();
		this.form.write('{');
		Members members = new Members();
		while (this.tokens.next() == Kind.NAME) {
			members.start(this.form.size());
			string();
			boolean match = wanted != null && wanted
				.contentEquals(CharBuffer.wrap(this.tokens.characters, this.tokens.offset, this.tokens.length));
			if (match && seen) {
				throw new MalformedJsonException("It has the same property twice");
			}
			seen |= match;
			value(this.tokens.next(), match ? level + 1 : OFF_THE_WAY);
		}
		this.comparable &= members.sort(this.form);
		this.form.write('}');
		if (this.form.size() - start >= DIGEST_FROM) {
			digest(start);
		}
	}

	private void digest(int start) {
		MessageDigest digest = Fingerprint.sha256();
		digest.update(this.form.array(), start, this.form.size() - start);
		byte[] bytes = digest.digest();
		this.form.truncate(start);
		this.form.write('#');
		this.form.write(bytes, 0, bytes.length);
	}

	private void array(int level) throws MalformedJsonException {
		String wanted = (level != OFF_THE_WAY) ? this.pointer.get(level) : null;
		int index = 0;
		this.form.write('[');
		for (Kind kind = this.tokens.next(); kind != Kind.END_ARRAY; kind = this.tokens.next()) {
			boolean match = wanted != null && wanted.equals(Integer.toString(index));
			value(kind, match ? level + 1 : OFF_THE_WAY);
			index++;
		}
		this.form.write(']');
	}

	private void string() throws MalformedJsonException {
		this.form.write('"');
		if (!this.form.writeUtf8(this.tokens.characters, this.tokens.offset, this.tokens.length)) {
			throw new MalformedJsonException("A string contains an unpaired surrogate");
		}
		this.form.write(END_OF_STRING);
	}

	/**
	 * Writes the sign, the digits without leading and trailing zeros, and the exponent of
	 * the last digit.
	 */
	private void number() {
		char[] text = this.tokens.characters;
		int from = this.tokens.offset;
		int end = from + this.tokens.length;
		int mantissa = from;
		while (mantissa < end && text[mantissa] != 'e' && text[mantissa] != 'E') {
			mantissa++;
		}
		char[] digits = new char[mantissa - from];
		int count = 0;
		int fraction = 0;
		boolean point = false;
		for (int i = (text[from] == '-') ? from + 1 : from; i < mantissa; i++) {
			point |= text[i] == '.';
			if (text[i] != '.') {
				fraction += point ? 1 : 0;
				if (count > 0 || text[i] != '0') {
					digits[count++] = text[i];
				}
			}
		}
		int zeros = 0;
		while (zeros < count && digits[count - 1 - zeros] == '0') {
			zeros++;
		}
		this.form.write('0');
		if (count > 0) {
			if (text[from] == '-') {
				this.form.write('-');
			}
			this.form.writeUtf8(digits, 0, count - zeros);
			char[] exponent = Long.toString(exponent(text, mantissa + 1, end) - fraction + zeros).toCharArray();
			this.form.write('e');
			this.form.writeUtf8(exponent, 0, exponent.length);
		}
		this.form.write(END_OF_NUMBER);
	}

	private long exponent(char[] text, int from, int end) {
		int start = (from < end && (text[from] == '-' || text[from] == '+')) ? from + 1 : from;
		while (start < end && text[start] == '0') {
			start++;
		}
		if (end - start > MAX_EXPONENT_DIGITS) {
			this.comparable = false;
			return 0;
		}
		long value = (start < end) ? Long.parseLong(CharBuffer.wrap(text, start, end - start), 0, end - start, 10) : 0;
		return (start > from && text[from] == '-') ? -value : value;
	}

	/**
	 * The properties of one object, as parts of a form that begin with their names. Not
	 * thread-safe.
	 */
	private static final class Members {

		private int[] starts = new int[8];

		private int count;

		void start(int position) {
			if (this.count == this.starts.length) {
				this.starts = Arrays.copyOf(this.starts, 2 * this.count);
			}
			this.starts[this.count++] = position;
		}

		/**
		 * Sorts the properties by name.
		 * @return whether all names are different
		 */
		boolean sort(ByteArrayBuffer sink) {
			byte[] bytes = sink.array();
			if (isSorted(bytes)) {
				return true;
			}
			int[] order = IntStream.range(0, this.count)
				.boxed()
				.sorted((a, b) -> compareNames(bytes, a, b))
				.mapToInt(Integer::intValue)
				.toArray();
			for (int i = 1; i < order.length; i++) {
				if (compareNames(bytes, order[i - 1], order[i]) == 0) {
					return false;
				}
			}
			rearrange(sink, order);
			return true;
		}

		private boolean isSorted(byte[] bytes) {
			for (int i = 1; i < this.count; i++) {
				if (compareNames(bytes, i - 1, i) >= 0) {
					return false;
				}
			}
			return true;
		}

		private void rearrange(ByteArrayBuffer sink, int[] order) {
			int start = this.starts[0];
			int end = sink.size();
			// Appended to the properties, so that another array is not needed.
			for (int i : order) {
				int next = (i + 1 < this.count) ? this.starts[i + 1] : end;
				sink.write(sink.array(), this.starts[i], next - this.starts[i]);
			}
			System.arraycopy(sink.array(), end, sink.array(), start, end - start);
			sink.truncate(end);
		}

		/**
		 * Compares two names. Each name ends with a byte that does not occur in names.
		 */
		private int compareNames(byte[] bytes, int one, int other) {
			int a = this.starts[one];
			int b = this.starts[other];
			while (bytes[a] == bytes[b]) {
				if ((bytes[a] & 0xFF) == JsonBody.END_OF_STRING) {
					return 0;
				}
				a++;
				b++;
			}
			return Byte.compareUnsigned(bytes[a], bytes[b]);
		}

	}

}
