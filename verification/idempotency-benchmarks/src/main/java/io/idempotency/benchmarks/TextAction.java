package io.idempotency.benchmarks;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;

import io.idempotency.engine.ValueAction;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.StoredResult;

/** Work that costs nothing, with a result of a few bytes. */
final class TextAction extends ValueAction<String> {

	TextAction() {
		super(new TextCodec(), String.class, false);
	}

	@Override
	public String run() {
		return "result";
	}

	@Override
	protected Object lookUp() {
		return null;
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return false;
	}

	private static final class TextCodec implements ResultCodec {

		@Override
		public StoredResult encode(Object value, Type type) {
			return new StoredResult("text", value.toString().getBytes(StandardCharsets.UTF_8));
		}

		@Override
		public Object decode(StoredResult result, Type type) {
			return new String(result.bytes(), StandardCharsets.UTF_8);
		}

		@Override
		public String unsupported(Type type) {
			return null;
		}

	}

}
