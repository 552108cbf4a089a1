package io.idempotency.ai;

import java.util.HexFormat;
import java.util.List;

import io.idempotency.codec.ResultCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * A bean for key expressions of tools whose clients send no key. Thread-safe.
 *
 * @param codec encodes the arguments
 */
record ToolCallKey(ResultCodec codec) {

	/** The name of the bean, and so a part of expressions. */
	static final String BEAN = "idempotencyToolCall";

	/**
	 * Returns the session and a digest of the arguments of the current tool call.
	 * @return both, {@code null} for a call without a session
	 */
	@Reflective
	public @Nullable List<String> sessionAndArguments() {
		ToolCall call = ToolCall.current();
		String session = (call != null) ? call.session() : null;
		return (call != null && session != null)
				? List.of(session, HexFormat.of().formatHex(call.fingerprint(this.codec).toBytes())) : null;
	}

}
