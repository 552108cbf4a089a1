package io.idempotency.messaging;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.List;
import java.util.UUID;

import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.interceptor.RequestValues;
import org.jspecify.annotations.Nullable;

/** The values of a message for expressions and keys. A message has no principal. */
record MessageValues(String operation, ReceivedMessage message) implements RequestValues {

	@Override
	public @Nullable String header(String name) {
		List<String> values = headers(name);
		return values.isEmpty() ? null : values.get(0);
	}

	@Override
	public List<String> headers(String name) {
		return this.message.headers(name).stream().map((value) -> text(name, value)).toList();
	}

	@Override
	public @Nullable String messageId() {
		return this.message.id();
	}

	@Override
	public @Nullable Object payload() {
		return this.message.payload();
	}

	@Override
	public @Nullable Principal principal() {
		return null;
	}

	private String text(String name, Object value) {
		if (value instanceof byte[] bytes) {
			try {
				return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
			}
			catch (CharacterCodingException ex) {
				IdempotencyKeyInvalidException rejection = invalid(name, "not valid UTF-8");
				rejection.initCause(ex);
				throw rejection;
			}
		}
		if (value instanceof CharSequence || value instanceof Number || value instanceof Boolean
				|| value instanceof UUID) {
			return value.toString();
		}
		throw invalid(name, "of type " + value.getClass().getName());
	}

	private IdempotencyKeyInvalidException invalid(String name, String problem) {
		return new IdempotencyKeyInvalidException(this.operation,
				"The header '" + name + "' of the message must be text, but it is " + problem);
	}

}
