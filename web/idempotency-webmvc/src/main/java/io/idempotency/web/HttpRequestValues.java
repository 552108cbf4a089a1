package io.idempotency.web;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

import io.idempotency.interceptor.RequestValues;
import io.idempotency.http.FormData;
import io.idempotency.http.RequestFingerprint.ComparedRequest;
import io.idempotency.http.CachedBody.ContentType;
import io.idempotency.http.RequestFingerprint.RequestPart;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import org.jspecify.annotations.Nullable;

import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.util.WebUtils;

/**
 * The values of an HTTP request, including those that are compared. For the thread that
 * handles the request.
 */
final class HttpRequestValues implements ComparedRequest {

	/**
	 * The attributes of dispatches. After a dispatch the request itself shows only its
	 * new target. These attributes contain the original target of the client and the
	 * inner handler that responds.
	 */
	private static final List<String> DISPATCHES = List.of(RequestDispatcher.FORWARD_REQUEST_URI,
			RequestDispatcher.FORWARD_QUERY_STRING, AsyncContext.ASYNC_REQUEST_URI, AsyncContext.ASYNC_QUERY_STRING,
			RequestDispatcher.INCLUDE_REQUEST_URI, RequestDispatcher.INCLUDE_QUERY_STRING,
			RequestDispatcher.ERROR_REQUEST_URI, "jakarta.servlet.error.query_string");

	private final HttpServletRequest request;

	private @Nullable RecordingRequest guarded;

	/**
	 * Creates the values.
	 * @param request the request as the handler sees it
	 */
	HttpRequestValues(HttpServletRequest request) {
		this.request = request;
	}

	/**
	 * Returns the values of the current thread's request.
	 * @return the values, {@link RequestValues#NONE} outside a request
	 */
	static RequestValues current() {
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
		return RecordingRequest.headers(this.request, name);
	}

	@Override
	public @Nullable String param(String name) {
		String value = this.request.getParameter(name);
		return (value != null) ? FormData.field(List.of(value), true) : null;
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
		return FormData.field((values != null) ? Arrays.asList(values) : null, !guarded().isFormMalformed());
	}

	/** The request as the filter sees it. */
	private RecordingRequest guarded() {
		if (this.guarded == null) {
			this.guarded = RecordingRequest.find(this.request);
		}
		if (this.guarded == null) {
			throw Exchange.missing(this.request, "read the body of the request");
		}
		return this.guarded;
	}

	@Override
	public @Nullable Principal principal() {
		return WebMvcCallerResolver.principal(this.request);
	}

	@Override
	public String method() {
		return this.request.getMethod();
	}

	@Override
	public String path() {
		return this.request.getRequestURI();
	}

	@Override
	public void dispatches(Consumer<@Nullable String> values) {
		for (String attribute : DISPATCHES) {
			values.accept((this.request.getAttribute(attribute) instanceof String text) ? text : null);
		}
	}

	@Override
	public @Nullable String query() {
		return this.request.getQueryString();
	}

	@Override
	public @Nullable String contentType() {
		return this.request.getContentType();
	}

	@Override
	public @Nullable String characterEncoding() {
		return this.request.getCharacterEncoding();
	}

	@Override
	public long contentLength() {
		return this.request.getContentLengthLong();
	}

	@Override
	public @Nullable String csrfParameter() {
		return CsrfParameter.name(this.request);
	}

	@Override
	public Map<String, List<String>> parameters() {
		Map<String, List<String>> parameters = new TreeMap<>();
		this.request.getParameterMap().forEach((name, values) -> parameters.put(name, Arrays.asList(values)));
		return parameters;
	}

	@Override
	public List<RequestPart> parts() {
		List<RequestPart> parts = new ArrayList<>();
		for (Part part : servletParts()) {
			parts.add(new RequestPart(part.getName(), part.getSubmittedFileName(), part.getContentType(),
					part.getSize(), part::getInputStream));
		}
		if (parts.isEmpty()) {
			// A multipart resolver other than the container's may have parsed the
			// request.
			MultipartHttpServletRequest multipart = WebUtils.getNativeRequest(this.request,
					MultipartHttpServletRequest.class);
			if (multipart != null) {
				multipart.getMultiFileMap().values().forEach((files) -> files.forEach((file) -> parts.add(part(file))));
			}
		}
		parts.sort(Comparator.comparing(RequestPart::name));
		return parts;
	}

	private Collection<Part> servletParts() {
		try {
			return this.request.getParts();
		}
		catch (ServletException | IllegalStateException ex) {
			// Containers throw these exceptions without a multipart configuration.
			return List.of();
		}
		catch (IOException ex) {
			throw new HttpMessageNotReadableException("The parts of the request could not be read", ex,
					new ServletServerHttpRequest(this.request));
		}
	}

	private static RequestPart part(MultipartFile file) {
		return new RequestPart(file.getName(), file.getOriginalFilename(), file.getContentType(), file.getSize(),
				file::getInputStream);
	}

	@Override
	public ByteBuffer body() {
		return guarded().body();
	}

	@Override
	public ByteBuffer form() {
		return guarded().readForm();
	}

	@Override
	public boolean isFormRead() {
		return guarded().isFormRead();
	}

	@Override
	public boolean compareJson(Consumer<ByteBuffer> form) {
		return guarded().known().compare(form);
	}

	@Override
	public void requireSize(long size) {
		guarded().requireSize(size);
	}

	/**
	 * Finds the parameter that contains the CSRF token. Spring Security masks the token
	 * again on each page, so its value is unrelated to the request.
	 */
	private static final class CsrfParameter {

		private static final boolean SPRING_SECURITY = ClassUtils
			.isPresent("org.springframework.security.web.csrf.CsrfToken", CsrfParameter.class.getClassLoader());

		private CsrfParameter() {
		}

		/**
		 * Returns the name of the parameter of a request.
		 * @return the name, {@code null} if Spring Security does not protect the request
		 * against CSRF or the client cannot have sent a token
		 */
		static @Nullable String name(HttpServletRequest request) {
			return SPRING_SECURITY ? Token.parameterName(request) : null;
		}

		/** Loaded only if Spring Security is present. */
		private static final class Token {

			static @Nullable String parameterName(HttpServletRequest request) {
				Object token = request.getAttribute(CsrfToken.class.getName());
				return (token instanceof CsrfToken csrf && hasState(request)) ? csrf.getParameterName() : null;
			}

			/**
			 * Returns whether the client may have sent a token. Reading the name creates
			 * a token and a session. It is therefore not read for a client without a
			 * session and without cookies.
			 */
			private static boolean hasState(HttpServletRequest request) {
				return request.getRequestedSessionId() != null || request.getCookies() != null
						|| request.getSession(false) != null;
			}

		}

	}

}
