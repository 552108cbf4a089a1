package io.idempotency.http;

import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code a=1&b=2}, as in query strings and forms.
 *
 * @hidden
 */
@Internal
public final class FormData {

	/**
	 * The limit that containers have by default. A body of a megabyte may hold half a
	 * million parameters, and each of them costs much more memory than it has bytes.
	 */
	static final int MAX_PARAMETERS = 1000;

	/** Decoders put it in the place of bytes that are no text in their charset. */
	private static final char REPLACEMENT = '\uFFFD';

	private FormData() {
	}

	/**
	 * Returns whether a decoder may have replaced bytes of a text: two texts that differ
	 * in such bytes only are then equal.
	 */
	public static boolean isLossy(String decoded) {
		return decoded.indexOf(REPLACEMENT) >= 0;
	}

	/** Returns whether a decoder may have replaced bytes of one of the values. */
	public static boolean isLossy(List<String> decoded) {
		for (String value : decoded) {
			if (isLossy(value)) {
				return true;
			}
		}
		return false;
	}

	/** Returns whether a decoder may have replaced bytes of names or values. */
	public static boolean isLossy(Map<String, List<String>> parameters) {
		for (Map.Entry<String, List<String>> parameter : parameters.entrySet()) {
			if (isLossy(parameter.getKey()) || isLossy(parameter.getValue())) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Finds where the first parameters end. Containers count the parameters of query and
	 * form together, and leave out what is over their limit.
	 * @param text the encoded parameters
	 * @param most how many parameters may be taken
	 * @return the end of the last of them
	 */
	static int end(String text, int most) {
		int end = 0;
		for (int taken = 0; taken < most && end < text.length(); taken++) {
			int next = text.indexOf('&', (end > 0) ? end + 1 : 0);
			end = (next >= 0) ? next : text.length();
		}
		return end;
	}

	/**
	 * Decodes parameters.
	 * @param text the encoded parameters
	 * @param charset the charset of percent-encoded bytes
	 * @return the values of each name in their order, {@code null} if the text is
	 * malformed or has too many parameters
	 */
	public static @Nullable Map<String, List<String>> parse(String text, Charset charset) {
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

	/**
	 * The parameters of a request whose form the guard has read. The container cannot
	 * read that form any more.
	 *
	 * @param values the parameters of the query and of the form
	 * @param complete whether these are surely all parameters, and tell all bytes of the
	 * form
	 * @hidden
	 */
	public record FormParameters(Map<String, String[]> values, boolean complete) {

		/**
		 * Adds the fields of a form to the parameters that the container knows.
		 * @param form the form as it was sent
		 * @param query the query, {@code null} if there is none
		 * @return all parameters, {@code null} if the form cannot be read
		 */
		public static @Nullable FormParameters of(String form, Charset charset, @Nullable String query,
				Map<String, String[]> known) {
			int room = FormData.MAX_PARAMETERS - known.values().stream().mapToInt((values) -> values.length).sum();
			int end = FormData.end(form, room);
			Map<String, List<String>> fields = FormData.parse(form.substring(0, end), charset);
			if (fields == null) {
				return null;
			}
			Map<String, List<String>> inQuery = (query != null) ? FormData.parse(query, StandardCharsets.UTF_8)
					: Map.of();
			return new FormParameters(merge(fields, inQuery, known),
					inQuery != null && end == form.length() && !FormData.isLossy(fields));
		}

		private static Map<String, String[]> merge(Map<String, List<String>> fields,
				@Nullable Map<String, List<String>> inQuery, Map<String, String[]> container) {
			Map<String, String[]> merged = new LinkedHashMap<>(container);
			fields.forEach((name, values) -> {
				List<String> known = Arrays.asList(merged.getOrDefault(name, new String[0]));
				// If the container knows more values than the query has, it knows the
				// form's
				// values. If the query cannot be read, only the container knows how many
				// values it has taken from it, so the last values are compared with the
				// form's.
				boolean inForm = (inQuery != null) ? known.size() > inQuery.getOrDefault(name, List.of()).size()
						: known.size() >= values.size()
								&& known.subList(known.size() - values.size(), known.size()).equals(values);
				if (!inForm) {
					merged.put(name, Stream.concat(known.stream(), values.stream()).toArray(String[]::new));
				}
			});
			return Collections.unmodifiableMap(merged);
		}

	}

}
