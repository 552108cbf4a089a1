package io.idempotency.http;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.http.StoredResponse.EndedBy;
import io.idempotency.protocol.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Reads answers as the first version stored them:
 *
 * <pre class="code">
 * ending:1 status:2 contentType:text contentLength:8 text:text
 * headers:2 { replaces:1 name:text values:2 { value:text } } body:4+n     (text: 4+n bytes of UTF-8, length -1: null)
 * </pre>
 */
final class FirstAnswerFormat {

	static final String NAME = "http1";

	private static final int MAX_COUNT = 0xFFFF;

	private FirstAnswerFormat() {
	}

	static StoredResponse read(ByteBuffer bytes) throws CharacterCodingException {
		int ending = bytes.get();
		int status = bytes.getShort();
		String contentType = text(bytes);
		long contentLength = bytes.getLong();
		String text = text(bytes);
		int count = count(bytes);
		List<ResponseHeader> headers = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			headers.add(header(bytes));
		}
		int bodyLength = bytes.getInt();
		require(bodyLength == bytes.remaining());
		require(ending >= 0 && ending < EndedBy.values().length && status >= 100 && status <= 999);
		return new StoredResponse(EndedBy.values()[ending], status, contentType, contentLength, text,
				List.copyOf(headers), bytes.slice());
	}

	private static ResponseHeader header(ByteBuffer bytes) throws CharacterCodingException {
		boolean replaces = bytes.get() == 1;
		String name = requiredText(bytes);
		int count = count(bytes);
		List<String> values = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			values.add(requiredText(bytes));
		}
		require(!name.isEmpty() && !values.isEmpty());
		return new ResponseHeader(name, replaces, List.copyOf(values));
	}

	private static int count(ByteBuffer bytes) {
		return bytes.getShort() & MAX_COUNT;
	}

	private static String requiredText(ByteBuffer bytes) throws CharacterCodingException {
		String text = text(bytes);
		if (text == null) {
			throw new UnreadableResultException("A stored answer is damaged");
		}
		return text;
	}

	private static @Nullable String text(ByteBuffer bytes) throws CharacterCodingException {
		int length = bytes.getInt();
		if (length == -1) {
			return null;
		}
		// The length is checked first, so that no memory is allocated for bytes that are
		// not there.
		require(length >= 0 && length <= bytes.remaining());
		ByteBuffer slice = bytes.slice(bytes.position(), length);
		bytes.position(bytes.position() + length);
		return StandardCharsets.UTF_8.newDecoder().decode(slice).toString();
	}

	private static void require(boolean valid) {
		if (!valid) {
			throw new UnreadableResultException("A stored answer is damaged");
		}
	}

}
