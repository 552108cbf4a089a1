package io.idempotency.http;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.idempotency.Internal;
import io.idempotency.http.StoredResponse.AmbientHeaders;
import io.idempotency.http.StoredResponse.EndedBy;
import io.idempotency.http.StoredResponse.Header;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Turns answers into bytes and back. The format has a name of its own, so that a newer
 * format can be told from it:
 *
 * <pre class="code">
 * ending:3bits what:3bits status:10bits contentType [contentLength] [text]
 * [headers { replaces:1 name values { value } }] body
 * </pre>
 *
 * The three bits say whether there are a content length, a text and headers. Counts,
 * lengths and the content length are numbers from zero on, which take one byte for each
 * seven of their bits, the lowest first; the highest bit of a byte says that another one
 * follows. A text, a name, a value and the body are bytes after their length. The content
 * type is zero if it is missing, otherwise bytes after their length plus one. All text is
 * UTF-8.
 *
 * @hidden
 */
@Internal
public final class StoredResponseCodec {

	static final String FORMAT = "h3";

	private static final int ENDING = 13;

	private static final int HAS_LENGTH = 1 << 12;

	private static final int HAS_TEXT = 1 << 11;

	private static final int HAS_HEADERS = 1 << 10;

	private static final int STATUS = HAS_HEADERS - 1;

	private static final EndedBy[] ENDINGS = EndedBy.values();

	private static final int MAX_COUNT = 0xFFFF;

	private static final int MORE = 0x80;

	/** Enough for most answers with a header. */
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
		ByteSink head = new ByteSink(HEAD);
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

	private static void writeHeaders(ByteSink head, List<Header> headers) {
		writeCount(head, headers.size());
		for (Header header : headers) {
			head.write(header.replaces() ? 1 : 0);
			writeText(head, header.name(), 0);
			writeCount(head, header.values().size());
			header.values().forEach((value) -> writeText(head, value, 0));
		}
	}

	private static void writeContentType(ByteSink bytes, @Nullable String contentType) {
		if (contentType == null) {
			bytes.write(0);
		}
		else {
			writeText(bytes, contentType, 1);
		}
	}

	private static void writeText(ByteSink bytes, String text, int offset) {
		byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
		writeNumber(bytes, (long) utf8.length + offset);
		bytes.write(utf8, 0, utf8.length);
	}

	private static void writeCount(ByteSink bytes, int count) {
		if (count > MAX_COUNT) {
			throw new IllegalArgumentException("A response with " + count + " headers cannot be stored");
		}
		writeNumber(bytes, count);
	}

	private static void writeNumber(ByteSink bytes, long number) {
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
		// The length is checked first, so that no memory is allocated for bytes that are
		// not there.
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
