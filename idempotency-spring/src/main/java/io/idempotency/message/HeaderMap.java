package io.idempotency.message;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/** Finds headers by their name in any case. */
final class HeaderMap {

	private HeaderMap() {
	}

	static List<Object> values(Map<String, ? extends @Nullable Object> headers, String name) {
		return headers.entrySet()
			.stream()
			.filter((header) -> header.getKey().equalsIgnoreCase(name))
			.map(Map.Entry::getValue)
			.filter(Objects::nonNull)
			.<Object>flatMap((value) -> (value instanceof Collection<?> several)
					? several.stream().filter(Objects::nonNull) : Stream.of(value))
			.toList();
	}

}
