package io.idempotency.http;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a request whose form the guard has read. The container cannot read
 * that form any more.
 *
 * @param values the parameters of the query and of the form
 * @param complete whether these are surely all parameters, and tell all bytes of the form
 * @hidden
 */
@Internal
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
		Map<String, List<String>> inQuery = (query != null) ? FormData.parse(query, StandardCharsets.UTF_8) : Map.of();
		return new FormParameters(merge(fields, inQuery, known),
				inQuery != null && end == form.length() && !FormData.isLossy(fields));
	}

	private static Map<String, String[]> merge(Map<String, List<String>> fields,
			@Nullable Map<String, List<String>> inQuery, Map<String, String[]> container) {
		Map<String, String[]> merged = new LinkedHashMap<>(container);
		fields.forEach((name, values) -> {
			List<String> known = Arrays.asList(merged.getOrDefault(name, new String[0]));
			// If the container knows more values than the query has, it knows the form's
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
