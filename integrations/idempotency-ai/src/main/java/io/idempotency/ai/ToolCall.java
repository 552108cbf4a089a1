package io.idempotency.ai;

import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.idempotency.IdempotencyException;
import io.idempotency.codec.ResultCodec;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.key.Fingerprint;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Content;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * One request that calls a tool. It is bound to the thread that runs the tool, and
 * belongs to that thread.
 */
final class ToolCall {

	/** The member of a result's {@code _meta} that marks a replay. */
	static final String REPLAYED = "io.idempotency/replayed";

	/** The property of a result's {@code _meta} with the reason of the rejection. */
	static final String REJECTION = "io.idempotency/rejection";

	private static final String ALGORITHM = "tool1";

	private static final ThreadLocal<@Nullable ToolCall> CURRENT = new ThreadLocal<>();

	private final CallToolRequest request;

	private final @Nullable String session;

	private @Nullable RuntimeException rejection;

	private boolean untouched;

	private boolean replayed;

	/**
	 * Creates the call.
	 * @param session the id of the session, {@code null} on a server without sessions
	 */
	ToolCall(CallToolRequest request, @Nullable String session) {
		this.request = request;
		this.session = session;
	}

	/** Returns the call that the current thread processes, or {@code null}. */
	static @Nullable ToolCall current() {
		return CURRENT.get();
	}

	Map<String, Object> arguments() {
		@Nullable Map<String, Object> arguments = this.request.arguments();
		return (arguments != null) ? arguments : Map.of();
	}

	Map<String, Object> meta() {
		@Nullable Map<String, Object> meta = this.request.meta();
		return (meta != null) ? meta : Map.of();
	}

	/** Returns the fingerprint of the arguments that the client sent. */
	Fingerprint fingerprint(ResultCodec codec) {
		return Fingerprint.of(ALGORITHM).add(codec.comparable(arguments())).build();
	}

	@Nullable String session() {
		return this.session;
	}

	/**
	 * Records that a guarded method was rejected, or could not be guarded.
	 * @param rejection the reason
	 * @param untouched whether the tool itself was rejected before it ran
	 */
	void rejected(RuntimeException rejection, boolean untouched) {
		this.rejection = rejection;
		this.untouched = untouched;
	}

	/** Notes that the tool has not run, and its first result was given. */
	void replayed() {
		this.replayed = true;
	}

	/**
	 * Runs the tool.
	 * @param tool makes the result of the call
	 * @return the result for the client
	 */
	CallToolResult run(Supplier<CallToolResult> tool) {
		@Nullable ToolCall outer = CURRENT.get();
		CURRENT.set(this);
		try {
			return answer(tool.get());
		}
		catch (RuntimeException ex) {
			if (ex instanceof IdempotencyException || ex instanceof GuardMisconfiguredException
					|| ex == this.rejection) {
				return error(ex);
			}
			throw ex;
		}
		finally {
			if (outer != null) {
				CURRENT.set(outer);
			}
			else {
				CURRENT.remove();
			}
		}
	}

	private CallToolResult answer(CallToolResult result) {
		if (this.rejection != null && Boolean.TRUE.equals(result.isError()) && tells(result, this.rejection)) {
			return error(this.rejection);
		}
		if (!this.replayed) {
			return result;
		}
		Map<String, Object> meta = (result.meta() != null) ? new HashMap<>(result.meta()) : new HashMap<>();
		meta.put(REPLAYED, true);
		return new CallToolResult(result.content(), result.isError(), result.structuredContent(), meta);
	}

	private CallToolResult error(RuntimeException exception) {
		ToolRejection rejection = ToolRejection.of(exception, this.untouched && exception == this.rejection);
		CallToolResult.Builder error = CallToolResult.builder().addTextContent(rejection.text()).isError(true);
		return (rejection.members().isEmpty() ? error : error.meta(Map.of(REJECTION, rejection.members()))).build();
	}

	/**
	 * Returns whether an error is the rejection, which the tool did not handle. The
	 * frameworks respond with the message of an exception or of its root cause.
	 */
	private static boolean tells(CallToolResult error, RuntimeException rejection) {
		Throwable root = rejection;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		String message = String.valueOf(rejection.getMessage());
		String rootMessage = String.valueOf(root.getMessage());
		@Nullable List<Content> contents = error.content();
		return contents != null && contents.stream()
			.anyMatch((content) -> content instanceof TextContent text && text.text() != null
					&& (text.text().contains(message) || text.text().contains(rootMessage)));
	}

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

}
