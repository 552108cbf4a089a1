package io.idempotency.web;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.UnsupportedCharsetException;
import java.security.Principal;
import java.util.Collections;
import java.util.List;

import io.idempotency.Internal;
import io.idempotency.aop.RequestValues;
import io.idempotency.aop.operation.BodyPointers;
import io.idempotency.http.request.ContentType;
import io.idempotency.http.request.JsonBody;
import io.idempotency.http.request.MalformedJsonException;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The values of an HTTP request. For the thread that works for the request.
 *
 * @hidden
 * @since 0.1.0
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
			case JSON, OTHER -> find(pointer);
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

	private @Nullable Object find(String pointer) {
		ByteBuffer body = guarded().body();
		if (!body.hasRemaining() || !BodyPointers.isPointer(pointer)) {
			return null;
		}
		try {
			String charset = ContentType.charset(this.request.getContentType(), this.request.getCharacterEncoding());
			return (charset == null || ContentType.isUtf8(charset)) ? guarded().json(pointer).value()
					: JsonBody.read(Charset.forName(charset).newDecoder().decode(body.duplicate()).toString(), pointer)
						.value();
		}
		catch (CharacterCodingException ex) {
			throw new IllegalArgumentException("The body is no text in its charset", ex);
		}
		catch (MalformedJsonException ex) {
			throw new IllegalArgumentException("The body is no JSON text that can be read: " + ex.getMessage());
		}
		catch (IllegalCharsetNameException | UnsupportedCharsetException ex) {
			throw new IllegalArgumentException("The body has a charset that nobody knows", ex);
		}
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
