package io.idempotency.ai;

import java.security.Principal;
import java.util.Map;
import java.util.function.Supplier;

import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.interceptor.RequestValues.BodyPointers;
import org.jspecify.annotations.Nullable;

/**
 * The values of the request of a tool call: the members of its {@code _meta} are the
 * headers, its arguments are the body.
 */
final class ToolValues implements RequestValues {

	private final ToolCall tool;

	private final OperationCall call;

	private final Supplier<RequestValues> request;

	/**
	 * Creates the values.
	 * @param call the call of the guarded method
	 * @param request supplies the values of the HTTP request
	 */
	ToolValues(ToolCall tool, OperationCall call, Supplier<RequestValues> request) {
		this.tool = tool;
		this.call = call;
		this.request = request;
	}

	@Override
	public @Nullable String header(String name) {
		@Nullable Object value = this.tool.meta().get(name);
		if (value == null) {
			return null;
		}
		if (isText(value)) {
			return value.toString();
		}
		throw new IdempotencyKeyInvalidException(this.call.operation().name(),
				"The _meta property '" + name + "' must be text");
	}

	@Override
	public @Nullable Object body(String pointer) {
		Map<String, Object> arguments = this.tool.arguments();
		@Nullable Object value = BodyPointers.isPointer(pointer) ? BodyPointers.find(arguments, pointer) : arguments.get(pointer);
		if (value == null || isText(value)) {
			return value;
		}
		throw new IllegalArgumentException("It is an array or an object");
	}

	private static boolean isText(Object value) {
		return value instanceof CharSequence || value instanceof Number || value instanceof Boolean;
	}

	/**
	 * Returns the caller of the HTTP request. The client sets the values of the tool
	 * call.
	 */
	@Override
	public @Nullable Principal principal() {
		return this.request.get().principal();
	}

}
