package io.idempotency.http;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;

import io.idempotency.Internal;
import io.idempotency.http.StoredResponse.Header;

/**
 * The headers that a response has when a call is claimed: outer filters (security, CORS,
 * tracing) have set them, and set them anew on a replay. Only headers that differ later
 * are stored.
 *
 * @hidden
 */
@Internal
public final class AmbientHeaders {

	/**
	 * Headers that belong to one answer or one connection, or that would give a secret to
	 * another client.
	 */
	private static final Set<String> NEVER_STORED = Set.of("set-cookie", "set-cookie2", "authorization",
			"www-authenticate", "proxy-authenticate", "proxy-authorization", "authentication-info",
			"proxy-authentication-info", "date", "connection", "proxy-connection", "keep-alive", "te", "trailer",
			"transfer-encoding", "upgrade", "content-length", "content-type");

	private final Map<String, List<String>> values;

	/**
	 * Takes the headers of a response.
	 * @param names their names
	 * @param values gives the values of a header
	 */
	public AmbientHeaders(Collection<String> names, Function<String, Collection<String>> values) {
		// Mostly there are none.
		this.values = names.isEmpty() ? Map.of() : new HashMap<>();
		for (String name : names) {
			this.values.put(lowerCase(name), List.copyOf(values.apply(name)));
		}
	}

	/**
	 * Gives each value of each header.
	 * @param header takes the name, in lower case, and the value
	 */
	public void forEach(BiConsumer<String, String> header) {
		this.values.forEach((name, all) -> all.forEach((value) -> header.accept(name, value)));
	}

	/**
	 * Returns the headers that were added or changed since this object was made.
	 * @param names the names of the headers that the same response has now
	 * @param values gives the values of a header
	 * @param excluded names in lower case that are never stored
	 * @return a list of the caller's own
	 */
	public List<Header> changes(Collection<String> names, Function<String, Collection<String>> values,
			Set<String> excluded) {
		List<Header> changes = new ArrayList<>();
		for (String name : names) {
			String key = lowerCase(name);
			if (!NEVER_STORED.contains(key) && !excluded.contains(key) && !Header.isIn(changes, name)) {
				addChange(name, key, List.copyOf(values.apply(name)), changes);
			}
		}
		return changes;
	}

	private void addChange(String name, String key, List<String> now, List<Header> changes) {
		List<String> before = this.values.getOrDefault(key, List.of());
		if (now.isEmpty() || now.equals(before)) {
			return;
		}
		boolean added = !before.isEmpty() && Collections.indexOfSubList(now, before) == 0;
		List<String> values = added ? now.subList(before.size(), now.size()) : now;
		changes.add(new Header(name, !added, List.copyOf(values)));
	}

	private static String lowerCase(String name) {
		return name.toLowerCase(Locale.ROOT);
	}

}
