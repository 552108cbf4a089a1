package io.idempotency.proofs.fuzz;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/** Reads JSON as RFC 8259 has it, and shares nothing with Jackson. */
final class JsonValue {

	private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

	private static final int MAX_DEPTH = 520;

	private final String text;

	private int at;

	private int depth;

	private JsonValue(String text) {
		this.text = text;
	}

	/**
	 * Reads a text.
	 * @param bytes the text in UTF-8, each byte as one character
	 * @return maps, lists and strings, a number as it is written; {@code null} if it is
	 * no JSON or has a member twice
	 */
	static @Nullable Object read(String bytes) {
		try {
			JsonValue json = new JsonValue(StandardCharsets.UTF_8.newDecoder()
				.decode(ByteBuffer.wrap(bytes.getBytes(StandardCharsets.ISO_8859_1)))
				.toString());
			Object value = json.value();
			json.space();
			return (json.at == json.text.length()) ? value : null;
		}
		catch (CharacterCodingException | IllegalArgumentException | IndexOutOfBoundsException ex) {
			return null;
		}
	}

	private Object value() {
		space();
		char c = this.text.charAt(this.at);
		return switch (c) {
			case '{' -> object();
			case '[' -> array();
			case '"' -> "\"" + string();
			case 't', 'f', 'n' -> word((c == 't') ? "true" : (c == 'f') ? "false" : "null");
			default -> number();
		};
	}

	private Map<String, Object> object() {
		Map<String, Object> members = new HashMap<>();
		open();
		while (!closes('}', members.isEmpty())) {
			space();
			String name = string();
			space();
			word(":");
			if (members.put(name, value()) != null) {
				throw new IllegalArgumentException("twice");
			}
		}
		return members;
	}

	private List<Object> array() {
		List<Object> elements = new ArrayList<>();
		open();
		while (!closes(']', elements.isEmpty())) {
			elements.add(value());
		}
		return elements;
	}

	private void open() {
		this.at++;
		if (++this.depth > MAX_DEPTH) {
			throw new IllegalArgumentException("deep");
		}
	}

	private boolean closes(char end, boolean first) {
		space();
		if (this.text.charAt(this.at) == end) {
			this.at++;
			this.depth--;
			return true;
		}
		if (!first) {
			word(",");
		}
		return false;
	}

	private String string() {
		word("\"");
		StringBuilder string = new StringBuilder();
		for (char c = this.text.charAt(this.at++); c != '"'; c = this.text.charAt(this.at++)) {
			if (c < ' ') {
				throw new IllegalArgumentException("control");
			}
			string.append((c == '\\') ? escaped() : c);
		}
		return string.toString();
	}

	private char escaped() {
		char c = this.text.charAt(this.at++);
		if (c == 'u') {
			this.at += 4;
			return (char) Integer.parseInt(this.text.substring(this.at - 4, this.at), 16);
		}
		int index = "\"\\/bfnrt".indexOf(c);
		if (index < 0) {
			throw new IllegalArgumentException("escape");
		}
		return "\"\\/\b\f\n\r\t".charAt(index);
	}

	private String number() {
		Matcher matcher = NUMBER.matcher(this.text).region(this.at, this.text.length());
		if (!matcher.lookingAt()) {
			throw new IllegalArgumentException("number");
		}
		this.at = matcher.end();
		return matcher.group();
	}

	private String word(String word) {
		if (!this.text.startsWith(word, this.at)) {
			throw new IllegalArgumentException(word);
		}
		this.at += word.length();
		return word;
	}

	private void space() {
		while (this.at < this.text.length() && " \t\r\n".indexOf(this.text.charAt(this.at)) >= 0) {
			this.at++;
		}
	}

}
