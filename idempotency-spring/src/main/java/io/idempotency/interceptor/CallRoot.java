package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.security.Principal;

import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * The root object of an operation's expressions. It contains all values that are not
 * arguments, so that names cannot collide.
 * <p>
 * The class is public, because compiled expressions call it.
 *
 * @hidden
 */
@Internal
public final class CallRoot {

	private final OperationCall call;

	private final RequestValues values;

	CallRoot(OperationCall call, RequestValues values) {
		this.call = call;
		this.values = values;
	}

	/**
	 * Returns a header of the request or of the message.
	 * @param name the name, case-insensitive
	 * @return the first value, {@code null} if the header is absent
	 */
	public @Nullable String header(String name) {
		return this.values.header(name);
	}

	/**
	 * Returns a query or form parameter of the request.
	 * @return the first value, {@code null} if the parameter is absent
	 * @throws IdempotencyKeyInvalidException if the value cannot be decoded
	 */
	public @Nullable String param(String name) {
		return (String) OperationKeyReader.value(this.call.operation(), "in the parameter '" + name + "'",
				() -> this.values.param(name));
	}

	/**
	 * Returns a value of the request body.
	 * @param pointer a JSON Pointer, or the name of a form field
	 * @return text, a number or a boolean; {@code null} if it is absent or null
	 * @throws IdempotencyKeyInvalidException if the value is an array or an object, the
	 * field has several values, or the body cannot be read
	 */
	public @Nullable Object body(String pointer) {
		return OperationKeyReader.value(this.call.operation(), "at '" + pointer + "' of the body",
				() -> this.values.body(pointer));
	}

	/**
	 * Returns the caller.
	 * @return the principal of the request, {@code null} for an anonymous caller
	 */
	public @Nullable Principal getPrincipal() {
		return this.values.principal();
	}

	/**
	 * Returns the id of the message, which the broker or the sender assigned.
	 * @return the id, {@code null} if the message has none
	 */
	public @Nullable String messageId() {
		return this.values.messageId();
	}

	/** Returns the method that is called. */
	public Method getMethod() {
		return this.call.operation().guarded().method();
	}

	/** Returns the bean that is called. */
	public Object getTarget() {
		return this.call.target();
	}

}
