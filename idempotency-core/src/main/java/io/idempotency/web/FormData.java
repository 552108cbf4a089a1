package io.idempotency.web;

import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** Reads {@code a=1&b=2}, as in query strings and forms. */
final class FormData {

	/**
	 * The limit that containers have by default. A body of a megabyte may hold half a
	 * million parameters, and each of them costs much more memory than it has bytes.
	 */
	static final int MAX_PARAMETERS = 1000;

	private FormData() {
	}

	/**
	 * Decodes parameters.
	 * @param text the encoded parameters
	 * @param charset the charset of percent-encoded bytes
	 * @return the values of each name in their order, {@code null} if the text is
	 * malformed or has too many parameters
	 */
	static @Nullable Map<String, List<String>> parse(String text, Charset charset) {
		Map<String, List<String>> parameters = new LinkedHashMap<>();
		if (text.chars().filter((c) -> c == '&').count() >= MAX_PARAMETERS) {
			return null;
		}
		try {
			for (String pair : text.split("&")) {
				if (!pair.isEmpty()) {
					int equals = pair.indexOf('=');
					String name = (equals >= 0) ? pair.substring(0, equals) : pair;
					String value = (equals >= 0) ? pair.substring(equals + 1) : "";
					parameters.computeIfAbsent(URLDecoder.decode(name, charset), (key) -> new ArrayList<>())
						.add(URLDecoder.decode(value, charset));
				}
			}
			return parameters;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

}
