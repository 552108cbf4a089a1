package io.idempotency.http;

import java.nio.ByteBuffer;
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
import java.util.stream.Stream;

import io.idempotency.Internal;
import io.idempotency.http.StoredResponse.Header;
import org.jspecify.annotations.Nullable;

/**
 * The first response, as it is replayed.
 *
 * @param ending how the response was ended
 * @param status the status code
 * @param contentType the content type, {@code null} if there was none
 * @param contentLength the length that was declared for a response without a body (HEAD,
 * 304), -1 if there was none
 * @param text the message of {@link EndedBy#ERROR}, the location of
 * {@link EndedBy#REDIRECT}
 * @param headers the headers that the handler added or changed, and the {@code Range} of
 * the request if the response is a part
 * @param body the body, not a copy
 * @hidden
 */
@Internal
public record StoredResponse(EndedBy ending, int status, @Nullable String contentType, long contentLength,
		@Nullable String text, List<Header> headers, ByteBuffer body) {

	public static final ByteBuffer NO_BODY = ByteBuffer.allocate(0);

	/** A header of the request; no answer has it, so it is stored like one of them. */
	public static final String RANGE = "Range";

	private static final int PARTIAL_CONTENT = 206;

	private static final int RANGE_NOT_SATISFIABLE = 416;

	/**
	 * Returns this response as the rendering of an error, with the headers that the error
	 * already had.
	 */
	public StoredResponse rendering(StoredResponse error) {
		return withHeaders(error.headers(), this.headers);
	}

	/**
	 * Returns this response with the {@code Range} of its request, if it is a part.
	 * @param range the values of the header
	 */
	public StoredResponse answering(List<String> range) {
		if (range.isEmpty() || !isPart()) {
			return this;
		}
		return withHeaders(this.headers, List.of(new Header(RANGE, true, List.copyOf(range))));
	}

	private StoredResponse withHeaders(List<Header> first, List<Header> others) {
		return new StoredResponse(this.ending, this.status, this.contentType, this.contentLength, this.text,
				Stream.concat(first.stream(), others.stream()).toList(), this.body);
	}

	/**
	 * Returns whether this response is one to a request with the given {@code Range}. The
	 * whole is: nobody must answer a range with a part.
	 * @param range the values of the header, empty if the request has none
	 */
	public boolean answers(List<String> range) {
		return !isPart() || range.equals(range());
	}

	private boolean isPart() {
		return this.status == PARTIAL_CONTENT || this.status == RANGE_NOT_SATISFIABLE
				|| Header.isIn(this.headers, "Content-Range");
	}

	private List<String> range() {
		return this.headers.stream()
			.filter((header) -> header.name().equals(RANGE))
			.findFirst()
			.map(Header::values)
			.orElse(List.of());
	}

	/** Never prints headers or body. */
	@Override
	public String toString() {
		return this.status + " " + this.ending + "[" + this.body.remaining() + " bytes]";
	}

	/**
	 * The way in which a response is ended. The ordinal is stored, so constants are never
	 * reordered and only appended.
	 *
	 * @hidden
	 */
	public enum EndedBy {

		/** The body ends the response. */
		BODY,

		/** A {@code sendError} ends the response, and the container renders it. */
		ERROR,

		/** A {@code sendRedirect} ends the response. */
		REDIRECT

	}

	/**
	 * A header of a stored response.
	 *
	 * @param replaces whether the header replaces the values that outer filters have set,
	 * or is added to them
	 * @param values its values, not empty
	 * @hidden
	 */
	public record Header(String name, boolean replaces, List<String> values) {

		/** Returns whether one of the headers has a name, in whatever case. */
		public static boolean isIn(List<Header> headers, String name) {
			for (Header header : headers) {
				if (header.name.equalsIgnoreCase(name)) {
					return true;
				}
			}
			return false;
		}

	}

	/**
	 * The headers that a response has when a call is claimed: outer filters (security,
	 * CORS, tracing) have set them, and set them anew on a replay. Only headers that
	 * differ later are stored.
	 *
	 * @hidden
	 */
	public static final class AmbientHeaders {

		/**
		 * Headers that belong to one answer or one connection, or that would give a
		 * secret to another client.
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

		/** Returns whether a header is neither stored nor replayed. */
		static boolean isNeverStored(String name) {
			return NEVER_STORED.contains(lowerCase(name));
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
				if (!isNeverStored(name) && !excluded.contains(key) && !Header.isIn(changes, name)) {
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

}
