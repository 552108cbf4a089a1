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
 * The parameters of a text such as {@code a=1&b=2}, as in query strings and forms.
 *
 * @param values the values by name, in their order
 * @param whole whether all parameters are well-formed; malformed parameters are omitted
 * @hidden
 */
@Internal
public record FormData(Map<String, List<String>> values, boolean whole) {

	/**
	 * The maximum number of fields in a form. A body of one megabyte may contain half a
	 * million fields, and each field needs much more memory than its bytes.
	 */
	static final int MAX_FIELDS = 10_000;

	/** Decoders replace malformed bytes with this character. */
	private static final char REPLACEMENT = '\uFFFD';

	/**
	 * Returns whether a decoder may have replaced bytes of a text. Two texts that differ
	 * only in such bytes are equal after decoding.
	 */
	public static boolean isLossy(String decoded) {
		return decoded.indexOf(REPLACEMENT) >= 0;
	}

	/** Returns whether a decoder may have replaced bytes of one of the values. */
	public static boolean isLossy(List<@Nullable String> decoded) {
		return decoded.stream().anyMatch((value) -> value != null && isLossy(value));
	}

	/** Returns whether a decoder may have replaced bytes of names or values. */
	public static boolean isLossy(Map<String, List<String>> parameters) {
		return parameters.entrySet()
			.stream()
			.anyMatch((parameter) -> isLossy(parameter.getKey()) || isLossy(parameter.getValue()));
	}

	/**
	 * Decodes parameters. Malformed parameters are omitted, as in Tomcat.
	 * @param text the encoded parameters, {@code null} for none
	 * @param charset the charset of percent-encoded bytes
	 */
	public static FormData parse(@Nullable String text, Charset charset) {
		Map<String, List<String>> values = new LinkedHashMap<>();
		boolean whole = true;
		for (String pair : (text != null) ? text.split("&") : new String[0]) {
			int equals = pair.indexOf('=');
			try {
				String name = URLDecoder.decode((equals >= 0) ? pair.substring(0, equals) : pair, charset);
				String value = URLDecoder.decode((equals >= 0) ? pair.substring(equals + 1) : "", charset);
				if (equals != 0 && !pair.isEmpty()) {
					values.computeIfAbsent(name, (key) -> new ArrayList<>()).add(value);
				}
				whole &= equals != 0;
			}
			catch (IllegalArgumentException ex) {
				whole = false;
			}
		}
		return new FormData(values, whole);
	}

	/**
	 * Returns the value of a form field that is a key or part of a key.
	 * @param values the values of the field, {@code null} if it is absent
	 * @param whole whether all fields are well-formed
	 * @throws IllegalArgumentException if the field was sent several times or cannot be
	 * decoded
	 */
	public static @Nullable String field(@Nullable List<String> values, boolean whole) {
		List<String> sent = (values != null) ? values : List.of();
		if (isLossy(sent) || sent.isEmpty() && !whole) {
			throw new IllegalArgumentException("The form cannot be decoded: send it in UTF-8");
		}
		if (sent.size() > 1) {
			throw new IllegalArgumentException("The field was sent " + sent.size() + " times");
		}
		return sent.isEmpty() ? null : sent.get(0);
	}

	/**
	 * The parameters of a request whose form was read by the guard. The container cannot
	 * read the form after that.
	 *
	 * @param values the parameters of the query and of the form
	 * @param whole whether all parameters are well-formed; malformed parameters are
	 * omitted
	 * @hidden
	 */
	public record FormParameters(Map<String, String[]> values, boolean whole) {

		/**
		 * Adds the fields of a form to the parameters of the container.
		 * @param form the form as it was sent
		 * @param query the query, {@code null} if the request has none
		 * @throws IllegalArgumentException if the form has too many fields
		 */
		public static FormParameters of(String form, Charset charset, @Nullable String query,
				Map<String, String[]> known) {
			if (form.chars().filter((c) -> c == '&').count() >= MAX_FIELDS) {
				throw new IllegalArgumentException("The form has more than " + MAX_FIELDS + " fields");
			}
			FormData fields = FormData.parse(form, charset);
			FormData inQuery = FormData.parse(query, StandardCharsets.UTF_8);
			return new FormParameters(merge(fields.values(), inQuery, known), fields.whole() && inQuery.whole());
		}

		private static Map<String, String[]> merge(Map<String, List<String>> fields, FormData inQuery,
				Map<String, String[]> container) {
			Map<String, String[]> merged = new LinkedHashMap<>(container);
			fields.forEach((name, values) -> {
				List<String> known = Arrays.asList(merged.getOrDefault(name, new String[0]));
				// If the container has more values than the query, it includes the values
				// of the form. If the query is malformed, the number of its values is
				// unknown. The last values are then compared with those of the form.
				boolean inForm = inQuery.whole() ? known.size() > inQuery.values().getOrDefault(name, List.of()).size()
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
