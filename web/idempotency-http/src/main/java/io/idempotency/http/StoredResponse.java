package io.idempotency.http;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
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
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * The first response, as it is replayed.
 *
 * @param ending how the response ended
 * @param status the status code
 * @param contentType the content type, {@code null} without one
 * @param contentLength the declared length of a response without a body (HEAD, 304), -1
 * without one
 * @param text the message of {@link EndedBy#ERROR}, the location of
 * {@link EndedBy#REDIRECT}
 * @param headers the headers that the handler added or changed, and the {@code Range} of
 * the request if the response is partial
 * @param body the body, not a copy
 * @hidden
 */
@Internal
public record StoredResponse(EndedBy ending, int status, @Nullable String contentType, long contentLength,
		@Nullable String text, List<Header> headers, ByteBuffer body) {

	public static final ByteBuffer NO_BODY = ByteBuffer.allocate(0);

	/**
	 * A request header. Responses do not have it, so it is stored among their headers.
	 */
	public static final String RANGE = "Range";

	private static final int PARTIAL_CONTENT = 206;

	private static final int RANGE_NOT_SATISFIABLE = 416;

	/**
	 * Returns this response as the rendering of an error, including the headers of the
	 * error.
	 */
	public StoredResponse rendering(StoredResponse error) {
		return withHeaders(error.headers(), this.headers);
	}

	/**
	 * Returns this response with the {@code Range} of its request, if it is partial.
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
	 * Returns whether this response fits a request with the given {@code Range}. A whole
	 * response always fits, because a server may ignore a range.
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

	/** Returns a text without headers and body. */
	@Override
	public String toString() {
		return this.status + " " + this.ending + "[" + this.body.remaining() + " bytes]";
	}

	/**
	 * The ways in which a response ends. The ordinal is stored, so constants are never
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
	 * @param replaces whether the header replaces the values that outer filters set;
	 * otherwise it is added to them
	 * @param values its values, not empty
	 * @hidden
	 */
	public record Header(String name, boolean replaces, List<String> values) {

		/** Returns whether the headers contain a name, ignoring case. */
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
	 * The headers that a response has when a call is claimed. Outer filters (security,
	 * CORS, tracing) set them, and set them again on a replay. Only later changes are
	 * stored.
	 *
	 * @hidden
	 */
	public static final class AmbientHeaders {

		/**
		 * Headers that belong to a single response or connection, or that would disclose
		 * a secret to another client.
		 */
		private static final Set<String> NEVER_STORED = Set.of("set-cookie", "set-cookie2", "authorization",
				"www-authenticate", "proxy-authenticate", "proxy-authorization", "authentication-info",
				"proxy-authentication-info", "date", "connection", "proxy-connection", "keep-alive", "te", "trailer",
				"transfer-encoding", "upgrade", "content-length", "content-type");

		private final Map<String, List<String>> values;

		/**
		 * Records the headers of a response.
		 * @param names their names
		 * @param values returns the values of a header
		 */
		public AmbientHeaders(Collection<String> names, Function<String, Collection<String>> values) {
			// Most responses have no such headers.
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
		 * Passes each value of each header to a consumer.
		 * @param header receives the name in lower case, and the value
		 */
		public void forEach(BiConsumer<String, String> header) {
			this.values.forEach((name, all) -> all.forEach((value) -> header.accept(name, value)));
		}

		/**
		 * Returns the headers that were added or changed since this object was created.
		 * @param names the names of the current headers of the same response
		 * @param values returns the values of a header
		 * @param excluded names in lower case that are never stored
		 * @return a modifiable list
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

	/**
	 * Encodes and decodes responses. The format has a name that distinguishes it from
	 * newer formats:
	 *
	 * <pre class="code">
	 * ending:3bits what:3bits status:10bits contentType [contentLength] [text]
	 * [headers { replaces:1 name values { value } }] body
	 * </pre>
	 *
	 * The three bits of {@code what} specify whether a content length, a text and headers
	 * follow. Counts, lengths and the content length are non-negative numbers. They are
	 * encoded with seven bits in each byte, the lowest bits first. The highest bit of a
	 * byte specifies whether another byte follows. A text, a name, a value and the body
	 * are their length followed by their bytes. A missing content type is zero. Otherwise
	 * it is its length plus one followed by its bytes. All text is UTF-8.
	 *
	 * @hidden
	 */
	public static final class StoredResponseCodec {

		static final String FORMAT = "h3";

		private static final int ENDING = 13;

		private static final int HAS_LENGTH = 1 << 12;

		private static final int HAS_TEXT = 1 << 11;

		private static final int HAS_HEADERS = 1 << 10;

		private static final int STATUS = HAS_HEADERS - 1;

		private static final EndedBy[] ENDINGS = EndedBy.values();

		private static final int MAX_COUNT = 0xFFFF;

		private static final int MORE = 0x80;

		/** Sufficient for most responses with one header. */
		private static final int HEAD = 64;

		private StoredResponseCodec() {
		}

		public static StoredResult encode(StoredResponse response) {
			if (!isStatus(response.status())) {
				throw new IllegalArgumentException("A response with status " + response.status() + " cannot be stored");
			}
			String text = response.text();
			boolean hasHeaders = !response.headers().isEmpty();
			int first = response.ending().ordinal() << ENDING | (response.contentLength() >= 0 ? HAS_LENGTH : 0)
					| (text != null ? HAS_TEXT : 0) | (hasHeaders ? HAS_HEADERS : 0) | response.status();
			ByteArrayBuffer head = new ByteArrayBuffer(HEAD);
			head.write(first >> Byte.SIZE);
			head.write(first);
			writeContentType(head, response.contentType());
			if (response.contentLength() >= 0) {
				writeNumber(head, response.contentLength());
			}
			if (text != null) {
				writeText(head, text, 0);
			}
			if (hasHeaders) {
				writeHeaders(head, response.headers());
			}
			int length = response.body().remaining();
			writeNumber(head, length);
			byte[] bytes = Arrays.copyOf(head.array(), Math.addExact(head.size(), length));
			response.body().duplicate().get(bytes, head.size(), length);
			return new StoredResult(FORMAT, bytes);
		}

		private static void writeHeaders(ByteArrayBuffer head, List<Header> headers) {
			writeCount(head, headers.size());
			for (Header header : headers) {
				head.write(header.replaces() ? 1 : 0);
				writeText(head, header.name(), 0);
				writeCount(head, header.values().size());
				header.values().forEach((value) -> writeText(head, value, 0));
			}
		}

		private static void writeContentType(ByteArrayBuffer bytes, @Nullable String contentType) {
			if (contentType == null) {
				bytes.write(0);
			}
			else {
				writeText(bytes, contentType, 1);
			}
		}

		private static void writeText(ByteArrayBuffer bytes, String text, int offset) {
			byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
			writeNumber(bytes, (long) utf8.length + offset);
			bytes.write(utf8, 0, utf8.length);
		}

		private static void writeCount(ByteArrayBuffer bytes, int count) {
			if (count > MAX_COUNT) {
				throw new IllegalArgumentException("A response with " + count + " headers cannot be stored");
			}
			writeNumber(bytes, count);
		}

		private static void writeNumber(ByteArrayBuffer bytes, long number) {
			long rest = number;
			while (rest >= MORE) {
				bytes.write((byte) (rest | MORE));
				rest >>>= 7;
			}
			bytes.write((byte) rest);
		}

		public static StoredResponse decode(StoredResult result) {
			if (!FORMAT.equals(result.format())) {
				throw new UnreadableResultException("A result of format '" + result.format()
						+ "' cannot be read as a response by this version, which reads '" + FORMAT + "'");
			}
			try {
				return read(ByteBuffer.wrap(result.bytes()));
			}
			catch (BufferUnderflowException | CharacterCodingException ex) {
				throw new UnreadableResultException("A stored response is damaged", ex);
			}
		}

		private static StoredResponse read(ByteBuffer bytes) throws CharacterCodingException {
			int first = Short.toUnsignedInt(bytes.getShort());
			int ending = first >> ENDING;
			int status = first & STATUS;
			String contentType = contentType(bytes);
			long contentLength = ((first & HAS_LENGTH) != 0) ? number(bytes) : -1;
			String text = ((first & HAS_TEXT) != 0) ? text(bytes, number(bytes)) : null;
			int count = ((first & HAS_HEADERS) != 0) ? count(bytes) : 0;
			List<Header> headers = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				headers.add(header(bytes));
			}
			require(number(bytes) == bytes.remaining());
			require(ending < ENDINGS.length && isStatus(status));
			headers.removeIf((header) -> AmbientHeaders.isNeverStored(header.name()));
			return new StoredResponse(ENDINGS[ending], status, contentType, contentLength, text, List.copyOf(headers),
					bytes.slice());
		}

		private static @Nullable String contentType(ByteBuffer bytes) throws CharacterCodingException {
			long number = number(bytes);
			return (number != 0) ? text(bytes, number - 1) : null;
		}

		private static Header header(ByteBuffer bytes) throws CharacterCodingException {
			boolean replaces = bytes.get() == 1;
			String name = text(bytes, number(bytes));
			int count = count(bytes);
			List<String> values = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				values.add(text(bytes, number(bytes)));
			}
			require(!name.isEmpty() && !values.isEmpty());
			return new Header(name, replaces, List.copyOf(values));
		}

		private static int count(ByteBuffer bytes) {
			long count = number(bytes);
			require(count <= MAX_COUNT);
			return (int) count;
		}

		private static String text(ByteBuffer bytes, long length) throws CharacterCodingException {
			// The length is checked first, so that memory is not allocated for missing
			// bytes.
			require(length <= bytes.remaining());
			ByteBuffer slice = bytes.slice(bytes.position(), (int) length);
			bytes.position(bytes.position() + (int) length);
			return StandardCharsets.UTF_8.newDecoder().decode(slice).toString();
		}

		private static long number(ByteBuffer bytes) {
			long number = 0;
			for (int shift = 0; shift < Long.SIZE - 1; shift += 7) {
				byte next = bytes.get();
				number |= (next & 0x7FL) << shift;
				if (next >= 0) {
					return number;
				}
			}
			throw new UnreadableResultException("A stored response is damaged");
		}

		private static boolean isStatus(int status) {
			return status >= 200 && status <= 999;
		}

		private static void require(boolean valid) {
			if (!valid) {
				throw new UnreadableResultException("A stored response is damaged");
			}
		}

	}

}
