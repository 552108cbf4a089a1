package io.idempotency.codec;

import java.lang.reflect.Type;

import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Encodes method results as bytes and decodes them. Implementations must be thread-safe.
 *
 * @since 0.1.0
 */
public interface ResultCodec {

	/**
	 * Encodes a result.
	 * @param value the result, {@code null} included
	 * @param type its declared type; {@link #comparable(Object)} passes the class of the
	 * value
	 * @return the stored form
	 * @throws RuntimeException if the value cannot be encoded
	 */
	StoredResult encode(@Nullable Object value, Type type);

	/**
	 * Decodes a result.
	 * @param result the output of {@link #encode}, possibly of an older version
	 * @param type the declared type
	 * @return an equal value
	 * @throws RuntimeException if the result cannot be decoded
	 */
	@Nullable Object decode(StoredResult result, Type type);

	/**
	 * Returns why values of a type cannot be stored. The library calls this method at
	 * startup.
	 * @param type the declared type
	 * @return the problem and the fix, or {@code null} if the type is supported
	 */
	@Nullable String unsupported(Type type);

	/**
	 * Returns why values of a type cannot be compared. The library calls this method at
	 * startup, for the arguments of methods with client-generated keys.
	 * @param type the declared type
	 * @return the problem, or {@code null} if {@link #comparable(Object)} supports the
	 * type, which is the default
	 */
	default @Nullable String incomparable(Type type) {
		return null;
	}

	/**
	 * Returns bytes for the comparison of a value. The bytes are never decoded.
	 * @param value the value
	 * @return bytes that are equal for equal values, in every JVM
	 * @throws RuntimeException if the value cannot be encoded
	 */
	default byte[] comparable(Object value) {
		return encode(value, value.getClass()).bytes();
	}

}
