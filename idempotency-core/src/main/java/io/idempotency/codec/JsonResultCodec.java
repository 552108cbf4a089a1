package io.idempotency.codec;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

import io.idempotency.engine.ResultCodec;
import io.idempotency.engine.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * What both generations of Jackson do alike. Format {@code json1} is the JSON of the value by
 * its declared type; an optional is an array of no or one element, so that an empty one
 * differs from {@code null}. Format {@code bytes1} is a {@code byte[]} as it is.
 */
abstract class JsonResultCodec implements ResultCodec {

	private static final String JSON = "json1";

	private static final String BYTES = "bytes1";

	private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

	@Override
	public final StoredResult encode(@Nullable Object value, Type type) {
		if (value == null || isVoid(type)) {
			return new StoredResult(JSON, NULL);
		}
		if (value instanceof byte[] bytes) {
			return new StoredResult(BYTES, bytes.clone());
		}
		OptionalKind optional = OptionalKind.of(type);
		if (optional == null) {
			return new StoredResult(JSON, write(value, type));
		}
		return new StoredResult(JSON, write(optional.elements(value), optional.listType(type)));
	}
}
