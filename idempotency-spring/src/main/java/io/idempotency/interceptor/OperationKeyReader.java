package io.idempotency.interceptor;

import java.util.List;
import java.util.function.Supplier;

import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.Internal;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.key.HeaderKeyParser;
import io.idempotency.key.Namespace.KeyParts;
import org.jspecify.annotations.Nullable;

/**
 * Reads the key of a call from the key source of its operation, by the same rules for
 * every adapter. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class OperationKeyReader {

	private final HeaderKeyParser headerParser;

	private final int maxLength;

	/**
	 * Creates the reader.
	 * @param maxLength the maximum length of a key from a header or body, positive
	 */
	public OperationKeyReader(int maxLength) {
		this.headerParser = new HeaderKeyParser(maxLength);
		this.maxLength = maxLength;
	}

	/**
	 * Reads the key.
	 * @return the parts of the key, empty if the key is missing
	 * @throws IdempotencyKeyInvalidException if the key is malformed
	 * @throws IllegalStateException if a key expression fails or returns a value that
	 * cannot be a key
	 */
	public List<String> parts(OperationCall call, RequestValues values) {
		KeySource source = call.operation().key().source();
		if (source instanceof KeySource.Spel spel) {
			return call.key(spel, values);
		}
		String key;
		if (source instanceof KeySource.Header header) {
			key = header(call.operation(), header, values);
		}
		else {
			String pointer = ((KeySource.Body) source).pointer();
			key = fromClient(call.operation(), "at '" + pointer + "' of the body", () -> values.body(pointer));
		}
		return (key != null) ? List.of(key) : List.of();
	}

	/**
	 * Reads a key that is in a header.
	 * @return the key, {@code null} if it is missing
	 * @throws IdempotencyKeyInvalidException if the key is malformed
	 */
	public @Nullable String header(IdempotentOperation operation, KeySource.Header source, RequestValues values) {
		return this.headerParser.parse(operation.name(), values.headers(source.name()));
	}

	/**
	 * Checks a key that a client did not send in a header.
	 * @param place the position of the key, in words that follow "the key"
	 * @param sent reads the key
	 * @return the key, {@code null} if it is missing
	 * @throws IdempotencyKeyInvalidException if it is neither text nor a number nor a
	 * boolean, or its text is empty or too long
	 */
	public @Nullable String fromClient(IdempotentOperation operation, String place, Supplier<@Nullable Object> sent) {
		Object value = value(operation, place, sent);
		String key;
		try {
			key = KeyParts.text(value);
		}
		catch (IllegalArgumentException ex) {
			throw unreadable(operation, place, "It is not text, a number or a boolean");
		}
		if (key != null && (key.isEmpty() || key.length() > this.maxLength)) {
			throw new IdempotencyKeyInvalidException(operation.name(),
					"The key " + place + " must have 1 to " + this.maxLength + " characters");
		}
		return key;
	}

	/**
	 * Returns a value of the request, which must be text, a number or a boolean.
	 * @param place the position of the value, in words that follow "the key"
	 * @param sent reads the value
	 * @throws IdempotencyKeyInvalidException if the client sent another value; the
	 * message contains the problem
	 */
	static @Nullable Object value(IdempotentOperation operation, String place, Supplier<@Nullable Object> sent) {
		try {
			return sent.get();
		}
		catch (IllegalArgumentException ex) {
			throw unreadable(operation, place, ex.getMessage());
		}
	}

	private static IdempotencyKeyInvalidException unreadable(IdempotentOperation operation, String place,
			@Nullable String problem) {
		return new IdempotencyKeyInvalidException(operation.name(),
				"The key " + place + " must be text, a number or a boolean. " + problem);
	}

}
