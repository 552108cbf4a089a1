package io.idempotency.it.client;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/** What a client saw. */
public record Answer(int status, Map<String, List<String>> headers, byte[] body) {

	/**
	 * Not the application's: the connection's, those of outer filters, or documented to
	 * differ on a replay.
	 */
	private static final Set<String> NOT_COMPARED = Set.of("date", "connection", "keep-alive", "transfer-encoding",
			"content-length", "idempotent-replayed", "cache-control", "pragma", "expires", "set-cookie",
			"x-content-type-options", "x-frame-options", "x-xss-protection");

	public String text() {
		return new String(this.body, StandardCharsets.UTF_8);
	}

	public @Nullable String header(String name) {
		for (Map.Entry<String, List<String>> header : this.headers.entrySet()) {
			if (header.getKey().equalsIgnoreCase(name) && !header.getValue().isEmpty()) {
				return header.getValue().get(0);
			}
		}
		return null;
	}

	public boolean replayed() {
		return "true".equals(header("Idempotent-Replayed"));
	}

	public Map<String, List<String>> comparableHeaders() {
		Map<String, List<String>> comparable = new TreeMap<>();
		this.headers.forEach((name, values) -> {
			String lower = name.toLowerCase(Locale.ROOT);
			if (!NOT_COMPARED.contains(lower)) {
				comparable.put(lower, values);
			}
		});
		return comparable;
	}

	@Override
	public String toString() {
		return this.status + " " + this.headers + " " + text();
	}

}
