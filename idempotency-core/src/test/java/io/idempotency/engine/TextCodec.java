package io.idempotency.engine;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;

import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/** Keeps text and {@code null}; everything else cannot be encoded. */
public class TextCodec implements ResultCodec {

	/** Can be encoded and never be decoded. */
	public static final String UNREADABLE = "unreadable";

	@Override
	public StoredResult encode(@Nullable Object value, Type type) {
		if (value != null && !(value instanceof String)) {
			throw new IllegalArgumentException("Only text can be encoded");
		}
		return new StoredResult("text", ((value != null) ? "=" + value : "").getBytes(StandardCharsets.UTF_8));
	}

	@Override
	public @Nullable Object decode(StoredResult result, Type type) {
		if (!result.format().equals("text")) {
			throw new IllegalArgumentException("Only text can be decoded");
		}
		String text = new String(result.bytes(), StandardCharsets.UTF_8);
		if (text.equals("=" + UNREADABLE)) {
			throw new UnreadableResultException("Text of an unknown version");
		}
		return text.isEmpty() ? null : text.substring(1);
	}

	@Override
	public @Nullable String unsupported(Type type) {
		return null;
	}

}
