package io.idempotency.http.request;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import io.idempotency.Internal;
import io.idempotency.http.ByteSink;
import io.idempotency.key.Sha256;
import org.jspecify.annotations.Nullable;

/**
 * The results of one walk through a JSON text: the form in which the text is compared,
 * and the value at a JSON Pointer (RFC 6901).
 * <p>
 * The form is equal for equal values: white space, the order of members and the way a
 * string is escaped do not count; the order of an array, {@code null} and the way a
 * number is written do. The form is for comparison only. Every value has an end of its
 * own: a string ends with a byte that UTF-8 never has, a number ends with a zero. A
 * digest replaces a large object, so that a deep text is not moved again on each level
 * when its members are sorted, and a form that is not short.
 *
 * @hidden
 */
@Internal
public final class JsonBody {

	static final int END_OF_STRING = 0xFF;

	private static final int END_OF_NUMBER = 0;

	/**
	 * The size in bytes from which a digest replaces an object. A smaller object is moved
	 * as cheaply as its digest is made.
	 */
	private static final int DIGEST_FROM = 1024;

	/** The size in bytes from which a digest replaces the form of a text. */
	private static final int SHORT = 64;

	/** A structure nested deeper than this is beyond the bounds. */
	private static final int MAX_DEPTH = 512;

	private static final int OFF_THE_WAY = -1;

	/** A form is built in as many bytes or more. */
	private static final int LEAST_ROOM = 2 * 1024;

	/** A larger array is not kept for the next text. */
	private static final int MOST_ROOM = 16 * 1024;

	/** What the thread uses for the next form; it holds nothing of the last one. */
	private static final ThreadLocal<@Nullable Tools> IDLE = new ThreadLocal<>();

	private final JsonReader text;

	private final List<byte[]> pointer;

	private final ByteSink form;

	private final MessageDigest digest;

	private byte[] compared = new byte[0];

	private boolean comparable = true;

	private int depth;

	private boolean structure;

	private @Nullable Object found;

	private JsonBody(JsonReader text, List<byte[]> pointer, Tools tools) {
		this.text = text;
		this.pointer = pointer;
		this.form = tools.form();
		this.digest = tools.digest();
	}

	/**
	 * Walks through a text to its end.
	 * @param text the text in UTF-8, in an array
	 * @param pointer points to the wanted value, {@code ""} for the whole text
	 * @return the results of the walk
	 * @throws MalformedJsonException if the text is malformed or beyond the bounds, or if
	 * a member on the way to the value is there twice, so that two readers may find two
	 * values
	 */
	public static JsonBody read(ByteBuffer text, String pointer) throws MalformedJsonException {
		Tools tools = tools(text.remaining());
		try {
			JsonBody body = new JsonBody(new JsonReader(text), namesOf(pointer), tools);
			body.readAll();
			return body;
		}
		finally {
			keep(tools);
		}
	}

	private static Tools tools(int size) {
		Tools idle = IDLE.get();
		if (idle == null) {
			return new Tools(new ByteSink(Math.max(size + size / 4 + 16, LEAST_ROOM)), Sha256.create());
		}
		IDLE.remove();
		return idle;
	}

	private static void keep(Tools tools) {
		ByteSink form = tools.form();
		if (form.array().length <= MOST_ROOM) {
			form.truncate(0);
			// So that the idle array keeps nothing of a request in memory.
			Arrays.fill(form.array(), (byte) 0);
			IDLE.set(tools);
		}
	}

	private void readAll() throws MalformedJsonException {
		value(0);
		if (this.text.peek() != JsonReader.END) {
			throw new MalformedJsonException("There is something behind its end");
		}
		if (this.form.size() > SHORT) {
			digest(0);
		}
		this.compared = Arrays.copyOf(this.form.array(), this.form.size());
	}

	private static List<byte[]> namesOf(String pointer) {
		if (pointer.isEmpty()) {
			return List.of();
		}
		List<byte[]> names = new ArrayList<>();
		for (String token : pointer.substring(1).split("/", -1)) {
			names.add(token.replace("~1", "/").replace("~0", "~").getBytes(StandardCharsets.UTF_8));
		}
		return names;
	}

	/**
	 * Returns the form in which the text is compared.
	 * @return the bytes; {@code null} if the text cannot be compared by value, because it
	 * has a member twice
	 */
	public @Nullable ByteBuffer comparable() {
		return this.comparable ? ByteBuffer.wrap(this.compared) : null;
	}

	/**
	 * Returns the value at the pointer.
	 * @return text, a number, a boolean; {@code null} if the value is absent or null
	 * @throws IllegalArgumentException if the value is an array or an object
	 */
	public @Nullable Object value() {
		if (this.structure) {
			throw new IllegalArgumentException("The value is an array or an object");
		}
		return this.found;
	}

	/**
	 * Reads one value.
	 * @param level how many names of the pointer led here, or {@link #OFF_THE_WAY}
	 */
	private void value(int level) throws MalformedJsonException {
		boolean here = level == this.pointer.size();
		int start = this.form.size();
		switch (this.text.peek()) {
			case '{', '[' -> {
				this.structure |= here;
				structure(here ? OFF_THE_WAY : level);
			}
			case '"' -> {
				string();
				if (here) {
					this.found = written(start);
				}
			}
			case 't' -> literal("true", here ? Boolean.TRUE : null);
			case 'f' -> literal("false", here ? Boolean.FALSE : null);
			case 'n' -> literal("null", null);
			case JsonReader.END -> throw new MalformedJsonException("It ends too early");
			default -> {
				number();
				if (here) {
					this.found = JsonNumber.of(written(start));
				}
			}
		}
	}

	/** Returns a string or a number that was written, between its two marks. */
	private String written(int start) {
		return new String(this.form.array(), start + 1, this.form.size() - start - 2, StandardCharsets.UTF_8);
	}

	private void literal(String name, @Nullable Boolean value) throws MalformedJsonException {
		this.text.literal(name);
		this.form.write(Character.toUpperCase(name.charAt(0)));
		if (value != null) {
			this.found = value;
		}
	}

	private void structure(int level) throws MalformedJsonException {
		if (++this.depth > MAX_DEPTH) {
			throw new MalformedJsonException("It is nested too deep");
		}
		if (this.text.skips('{')) {
			object(level);
		}
		else {
			array(level);
		}
		this.depth--;
	}

	private void object(int level) throws MalformedJsonException {
		byte[] wanted = (level != OFF_THE_WAY) ? this.pointer.get(level) : null;
		boolean seen = false;
		int start = this.form.size();
		this.form.write('{');
		Members members = new Members();
		if (!this.text.skips('}')) {
			do {
				int name = this.form.size();
				members.start(name);
				string();
				this.text.skip(':');
				boolean match = wanted != null
						&& Arrays.equals(wanted, 0, wanted.length, this.form.array(), name + 1, this.form.size() - 1);
				if (match && seen) {
					throw new MalformedJsonException("A member is there twice");
				}
				seen |= match;
				value(match ? level + 1 : OFF_THE_WAY);
			}
			while (this.text.skips(','));
			this.text.skip('}');
		}
		this.comparable &= members.sort(this.form);
		this.form.write('}');
		if (this.form.size() - start >= DIGEST_FROM) {
			digest(start);
		}
	}

	private void array(int level) throws MalformedJsonException {
		String wanted = (level != OFF_THE_WAY) ? new String(this.pointer.get(level), StandardCharsets.UTF_8) : null;
		int index = 0;
		this.form.write('[');
		this.text.skip('[');
		if (!this.text.skips(']')) {
			do {
				boolean match = wanted != null && wanted.equals(Integer.toString(index));
				value(match ? level + 1 : OFF_THE_WAY);
				index++;
			}
			while (this.text.skips(','));
			this.text.skip(']');
		}
		this.form.write(']');
	}

	private void string() throws MalformedJsonException {
		this.form.write('"');
		this.text.string(this.form);
		this.form.write(END_OF_STRING);
	}

	private void number() throws MalformedJsonException {
		this.form.write('0');
		this.text.number(this.form);
		this.form.write(END_OF_NUMBER);
	}

	private void digest(int start) {
		this.digest.update(this.form.array(), start, this.form.size() - start);
		byte[] bytes = this.digest.digest();
		this.form.truncate(start);
		this.form.write('#');
		this.form.write(bytes, 0, bytes.length);
	}

	/**
	 * What a form is made with.
	 *
	 * @param form the array in which it is built
	 * @param digest makes the digests in it
	 */
	private record Tools(ByteSink form, MessageDigest digest) {
	}

	/**
	 * The members of one object, as pieces of a form that start with their names. Not
	 * thread-safe.
	 */
	private static final class Members {

		/** The largest number of members for which a sort by insertion is not slower. */
		private static final int FEW = 24;

		private int[] starts = new int[8];

		private int count;

		void start(int position) {
			if (this.count == this.starts.length) {
				this.starts = Arrays.copyOf(this.starts, 2 * this.count);
			}
			this.starts[this.count++] = position;
		}

		/**
		 * Sorts the members by name.
		 * @return whether no two members have the same name
		 */
		boolean sort(ByteSink sink) {
			byte[] bytes = sink.array();
			if (isSorted(bytes)) {
				return true;
			}
			int[] order = (this.count <= FEW) ? sortFew(bytes) : sortMany(bytes);
			for (int i = 1; i < order.length; i++) {
				if (compareNames(bytes, order[i - 1], order[i]) == 0) {
					return false;
				}
			}
			rearrange(sink, order);
			return true;
		}

		/** Sorts by insertion, which needs no objects. */
		private int[] sortFew(byte[] bytes) {
			int[] order = new int[this.count];
			for (int i = 0; i < order.length; i++) {
				int to = i;
				while (to > 0 && compareNames(bytes, order[to - 1], i) > 0) {
					order[to] = order[to - 1];
					to--;
				}
				order[to] = i;
			}
			return order;
		}

		private int[] sortMany(byte[] bytes) {
			return IntStream.range(0, this.count)
				.boxed()
				.sorted((a, b) -> compareNames(bytes, a, b))
				.mapToInt(Integer::intValue)
				.toArray();
		}

		private boolean isSorted(byte[] bytes) {
			for (int i = 1; i < this.count; i++) {
				if (compareNames(bytes, i - 1, i) >= 0) {
					return false;
				}
			}
			return true;
		}

		private void rearrange(ByteSink sink, int[] order) {
			int start = this.starts[0];
			int end = sink.size();
			// Behind the members, so that no other array is needed.
			for (int i : order) {
				int next = (i + 1 < this.count) ? this.starts[i + 1] : end;
				sink.write(sink.array(), this.starts[i], next - this.starts[i]);
			}
			System.arraycopy(sink.array(), end, sink.array(), start, end - start);
			sink.truncate(end);
		}

		/** Compares two names. Each name ends with a byte that occurs in no name. */
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
