package io.idempotency.web;

import java.security.Principal;
import java.util.Collections;
import java.util.List;

import io.idempotency.Internal;
import io.idempotency.aop.RequestValues;
import io.idempotency.http.request.ContentType;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The values of an HTTP request. For the thread that works for the request.
 *
 * @hidden
 */
@Internal
public final class HttpRequestValues implements RequestValues {

	private final HttpServletRequest request;

	/**
	 * Creates the values.
	 * @param request the request as the handler sees it
	 */
	public HttpRequestValues(HttpServletRequest request) {
		this.request = request;
	}

	/**
	 * Returns the values of the request that the current thread works for.
	 * @return the values, {@link RequestValues#NONE} outside a request
	 */
	public static RequestValues current() {
		HttpServletRequest request = currentRequest();
		return (request != null) ? new HttpRequestValues(request) : RequestValues.NONE;
	}

	static @Nullable HttpServletRequest currentRequest() {
		return (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)
				? attributes.getRequest() : null;
	}

	@Override
	public @Nullable String header(String name) {
		return this.request.getHeader(name);
	}

	@Override
	public List<String> headers(String name) {
		return Collections.list(this.request.getHeaders(name));
	}

	@Override
	public @Nullable String param(String name) {
		return this.request.getParameter(name);
	}

	/**
	 * Returns a value of the body.
	 * @param pointer a JSON Pointer (RFC 6901) into a JSON body, or the name of a form
	 * field
	 * @return text, a number or a boolean; {@code null} if the value is absent or null
	 * @throws IllegalArgumentException if the value is an array, an object or a field
	 * with several values, or if the body is malformed
	 */
	@Override
	public @Nullable Object body(String pointer) {
		return switch (ContentType.of(this.request.getContentType())) {
			case FORM -> {
				guarded().readForm();
				yield field(pointer);
			}
			case MULTIPART -> field(pointer);
			case JSON, OTHER -> guarded().known().find(pointer);
		};
	}

	private @Nullable String field(String name) {
		String[] values = this.request.getParameterValues(name);
		if (values == null || values.length == 0) {
			return null;
		}
		if (values.length > 1) {
			throw new IllegalArgumentException("The field was sent " + values.length + " times");
		}
		return values[0];
	}

	private RecordingRequest guarded() {
		RecordingRequest guarded = RecordingRequest.find(this.request);
		if (guarded == null) {
			throw Exchange.missing(this.request, "read the body of the request");
		}
		return guarded;
	}

	@Override
	public @Nullable Principal principal() {
		return this.request.getUserPrincipal();
	}

}
