package io.idempotency.autoconfigure;

import java.lang.reflect.Type;

import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * The codec for an application without a JSON library: it can keep only that a method is
 * done. Answers of controllers are bytes and need no codec.
 */
final class VoidResultCodec implements ResultCodec {

	private static final String FORMAT = "void1";

	@Override
	public StoredResult encode(@Nullable Object value, Type type) {
		if (value != null) {
			throw new IllegalStateException(problem(type));
		}
		return new StoredResult(FORMAT, new byte[0]);
	}

	@Override
	public @Nullable Object decode(StoredResult result, Type type) {
		if (!FORMAT.equals(result.format())) {
			throw new UnreadableResultException(problem(type));
		}
		return null;
	}

	@Override
	public @Nullable String unsupported(Type type) {
		return (type == void.class || type == Void.class) ? null : problem(type);
	}

	@Override
	public String incomparable(Type type) {
		return "values of type " + type.getTypeName() + " cannot be compared without a JSON library: add Jackson";
	}

	private static String problem(Type type) {
		return "results of type " + type.getTypeName()
				+ " cannot be stored without a JSON library: add Jackson (spring-boot-starter-json), or declare a bean of type "
				+ ResultCodec.class.getName();
	}

}
