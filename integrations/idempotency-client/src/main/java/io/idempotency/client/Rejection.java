package io.idempotency.client;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The retry advice of a problem. An application that only calls others need not have a
 * JSON library, so this class parses the few properties itself.
 *
 * @param code the machine-readable reason
 * @param retry what may be done with the key
 * @param detail the explanation for people, {@code null} without a detail
 */
record Rejection(String code, String retry, @Nullable String detail) implements Serializable {

	private static final Set<String> WORDS = Set.of("same-key", "new-key", "never", "fix-request");

	/** Returns whether the body of a response may be a problem. */
	static boolean mayBe(int status, @Nullable String contentType) {
		return status >= 400 && contentType != null
				&& contentType.split(";", 2)[0].strip().equalsIgnoreCase("application/problem+json");
	}

	/**
	 * Reads a problem.
	 * @return the rejection, {@code null} if the body does not have both code and retry
	 */
	static @Nullable Rejection of(byte[] body) {
		Map<String, String> members = members(new String(body, StandardCharsets.UTF_8));
		String code = members.get("code");
		String retry = members.get("retry");
		return (code != null && retry != null && WORDS.contains(retry))
				? new Rejection(code, retry, members.get("detail")) : null;
	}

	boolean allowsSameKey() {
		return this.retry.equals("same-key");
	}

	/**
	 * Reads the string properties of an object. Properties of inner objects are ignored,
	 * and so is text inside strings that looks like a property.
	 */
	private static Map<String, String> members(String json) {
		Map<String, String> members = new HashMap<>();
		String name = null;
		boolean value = false;
		int depth = 0;
		for (int i = 0; i < json.length(); i++) {
			char c = json.charAt(i);
			if (c == '"') {
				int end = end(json, i + 1);
				if (depth == 1 && !value) {
					name = unescaped(json.substring(i + 1, end));
				}
				else if (depth == 1 && name != null) {
					members.put(name, unescaped(json.substring(i + 1, end)));
				}
				i = end;
			}
			else if (c == '{' || c == '[') {
				depth++;
			}
			else if (c == '}' || c == ']') {
				depth--;
			}
			else if (depth == 1 && (c == ':' || c == ',')) {
				value = c == ':';
			}
		}
		return (depth == 0) ? members : Map.of();
	}

	/** Returns the end of a string: its quote, or the end of the input. */
	private static int end(String json, int start) {
		int end = start;
		while (end < json.length() && json.charAt(end) != '"') {
			end += (json.charAt(end) == '\\') ? 2 : 1;
		}
		return Math.min(end, json.length());
	}

	private static String unescaped(String text) {
		if (text.indexOf('\\') < 0) {
			return text;
		}
		StringBuilder plain = new StringBuilder(text.length());
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c != '\\' || i + 1 == text.length()) {
				plain.append(c);
				continue;
			}
			char escape = text.charAt(++i);
			int code = (escape == 'u' && i + 4 < text.length()) ? hex(text.substring(i + 1, i + 5)) : -1;
			if (code >= 0) {
				plain.append((char) code);
				i += 4;
			}
			else {
				plain.append(switch (escape) {
					case 'n' -> '\n';
					case 't' -> '\t';
					case 'r' -> '\r';
					case 'b' -> '\b';
					case 'f' -> '\f';
					default -> escape;
				});
			}
		}
		return plain.toString();
	}

	private static int hex(String digits) {
		return digits.matches("[0-9A-Fa-f]{4}") ? Integer.parseInt(digits, 16) : -1;
	}

}
