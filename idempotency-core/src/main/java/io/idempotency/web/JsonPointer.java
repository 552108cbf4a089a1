package io.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Finds one value in a JSON text by a pointer of RFC 6901. Immutable.
 */
final class JsonPointer {

	private final List<String> tokens;

	private JsonPointer(List<String> tokens) {
		this.tokens = tokens;
	}

	/**
	 * Reads a pointer.
	 * @param pointer the pointer
	 * @return the pointer, {@code null} if the text is none
	 */
	static @Nullable JsonPointer parse(String pointer) {
		if (pointer.isEmpty()) {
			return new JsonPointer(List.of());
		}
		if (pointer.charAt(0) != '/' || pointer.matches(".*~(?![01]).*")) {
			return null;
		}
		List<String> tokens = new ArrayList<>();
		for (String token : pointer.substring(1).split("/", -1)) {
			tokens.add(token.replace("~1", "/").replace("~0", "~"));
		}
		return new JsonPointer(tokens);
	}

	/**
	 * Finds the value.
	 * @param json the text, which is read and checked to its end
	 * @return text, a number, a boolean; {@code null} if the value is absent or null
	 * @throws MalformedJsonException if the text is malformed, or has a member on the way
	 * twice, so that two readers may find two values
	 * @throws IllegalArgumentException if the value is an array or an object
	 */
	@Nullable Object find(byte[] json) throws MalformedJsonException {
		if (startsWithByteOrderMark(json)) {
			throw new MalformedJsonException("It begins with a byte order mark");
		}
		Search search = new Search(json);
		search.value(0, true, 0);
		search.scanner.expectEnd();
		if (search.structure) {
			throw new IllegalArgumentException("The value is an array or an object");
		}
		return search.found;
	}

	private static boolean startsWithByteOrderMark(byte[] json) {
		return json.length >= 3 && (json[0] & 0xFF) == 0xEF && (json[1] & 0xFF) == 0xBB && (json[2] & 0xFF) == 0xBF;
	}

	private final class Search {

		private final JsonScanner scanner;

		private final ByteSink text = new ByteSink();

		private @Nullable Object found;

		private boolean structure;

		Search(byte[] json) {
			this.scanner = new JsonScanner(json);
		}

		/**
		 * Reads one value.
		 * @param level how many tokens of the pointer led here
		 * @param onWay whether they did
		 * @param depth how deep the value is nested
		 */
		void value(int level, boolean onWay, int depth) throws MalformedJsonException {
			if (depth > JsonScanner.MAX_DEPTH) {
				throw new MalformedJsonException("Nested too deep");
			}
			boolean here = onWay && level == JsonPointer.this.tokens.size();
			int first = this.scanner.peek();
			if (first == '{' || first == '[') {
				this.structure |= here;
				String token = (onWay && !here) ? JsonPointer.this.tokens.get(level) : null;
				if (first == '{') {
					object(token, level, depth);
				}
				else {
					array(token, level, depth);
				}
				return;
			}
			Object scalar = scalar(first);
			if (here) {
				this.found = scalar;
			}
		}

		private void object(@Nullable String token, int level, int depth) throws MalformedJsonException {
			this.scanner.expect('{');
			if (this.scanner.skip('}')) {
				return;
			}
			boolean seen = false;
			do {
				boolean match = string().equals(token);
				if (match && seen) {
					throw new MalformedJsonException("A member is there twice");
				}
				seen |= match;
				this.scanner.expect(':');
				value(level + 1, match, depth + 1);
			}
			while (this.scanner.skip(','));
			this.scanner.expect('}');
		}

		private void array(@Nullable String token, int level, int depth) throws MalformedJsonException {
			this.scanner.expect('[');
			if (this.scanner.skip(']')) {
				return;
			}
			int index = 0;
			do {
				value(level + 1, token != null && token.equals(Integer.toString(index)), depth + 1);
				index++;
			}
			while (this.scanner.skip(','));
			this.scanner.expect(']');
		}

		private @Nullable Object scalar(int first) throws MalformedJsonException {
			switch (first) {
				case '"' -> {
					return string();
				}
				case 't' -> {
					this.scanner.literal("true");
					return true;
				}
				case 'f' -> {
					this.scanner.literal("false");
					return false;
				}
				case 'n' -> {
					this.scanner.literal("null");
					return null;
				}
				default -> {
					this.text.truncate(0);
					this.scanner.number(this.text);
					return JsonNumber.of(text());
				}
			}
		}

		private String string() throws MalformedJsonException {
			this.text.truncate(0);
			this.scanner.string(this.text);
			return text();
		}

		private String text() {
			return new String(this.text.array(), 0, this.text.size(), StandardCharsets.UTF_8);
		}

	}

}
