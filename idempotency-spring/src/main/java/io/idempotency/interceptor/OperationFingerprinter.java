package io.idempotency.interceptor;

import java.math.BigDecimal;
import java.util.Optional;

import io.idempotency.Internal;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.Namespace.KeyParts;
import io.idempotency.codec.ResultCodec;
import org.jspecify.annotations.Nullable;

/**
 * Makes the fingerprint of the value of an expression, by the same rules for every
 * adapter. Thread-safe.
 * <p>
 * A value that could be one part of a key counts by its text, so {@code 5} and
 * {@code "5"} are equal; any other value, lists included, counts by its encoded form.
 * Numbers are compared by value.
 *
 * @hidden
 */
@Internal
public final class OperationFingerprinter {

	private static final String ALGORITHM = "spel1";

	private final ResultCodec codec;

	/**
	 * Creates the fingerprinter.
	 * @param codec encodes values that have no text
	 */
	public OperationFingerprinter(ResultCodec codec) {
		this.codec = codec;
	}

	/**
	 * Makes the fingerprint of one call.
	 * @param source the expression
	 * @throws IllegalStateException if the expression fails or gives a value that cannot
	 * be encoded
	 */
	public Fingerprint of(OperationCall call, IdempotentOperation.FingerprintSource.Spel source, RequestValues values) {
		Object value = unwrap(call.fingerprint(source, values));
		Fingerprint.Builder fingerprint = Fingerprint.of(ALGORITHM);
		if (value == null || KeyParts.isText(value) && !(value instanceof BigDecimal)) {
			return fingerprint.add(KeyParts.text(value)).build();
		}
		try {
			return fingerprint.add(this.codec.comparable(value)).build();
		}
		catch (RuntimeException ex) {
			// After any exception of the codec, the value cannot be compared.
			throw source.expression().failure(ex);
		}
	}

	/**
	 * Makes the fingerprint of the arguments of one call.
	 * @param arguments which of its arguments count
	 * @throws IllegalStateException if an argument cannot be encoded
	 */
	public Fingerprint of(OperationCall call, ArgumentFingerprinter arguments, RequestValues values) {
		return arguments.fingerprint(call.arguments(), values, this.codec);
	}

	private static @Nullable Object unwrap(@Nullable Object value) {
		return (value instanceof Optional<?> optional) ? optional.orElse(null) : value;
	}

}
