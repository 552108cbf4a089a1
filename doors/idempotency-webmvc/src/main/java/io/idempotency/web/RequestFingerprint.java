package io.idempotency.web;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.aop.KeySource;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.http.request.ContentType;
import io.idempotency.http.request.FormData;
import io.idempotency.key.Fingerprint;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.ClassUtils;

/**
 * Makes the fingerprint of a request: method, path, query and body, and the headers that
 * ask for another answer. Thread-safe.
 * <p>
 * A change of the compared values, or of the way to compare them, needs another name of
 * the algorithm. Fingerprints with different names never match, so a fingerprint of one
 * version of the library is never taken for that of another version.
 */
final class RequestFingerprint {

	private static final String BY_VALUE = "http-json4";

	private static final String BY_BYTES = "http-raw3";

	/**
	 * The attributes of dispatches. After a dispatch the request itself shows only its
	 * new target, and these attributes show what the client has asked for and which of
	 * several inner handlers answers.
	 */
	private static final List<String> DISPATCHES = List.of(RequestDispatcher.FORWARD_REQUEST_URI,
			RequestDispatcher.FORWARD_QUERY_STRING, AsyncContext.ASYNC_REQUEST_URI, AsyncContext.ASYNC_QUERY_STRING,
			RequestDispatcher.INCLUDE_REQUEST_URI, RequestDispatcher.INCLUDE_QUERY_STRING,
			RequestDispatcher.ERROR_REQUEST_URI, "jakarta.servlet.error.query_string");

	/**
	 * The headers that may ask for no answer. Such an answer differs from the usual one,
	 * so these headers are always compared. {@code Range} is not among them, because a
	 * handler may answer it with the whole: {@link StoredResponse#answers} compares it.
	 */
	private static final List<String> CONDITIONS = List.of("if-match", "if-none-match", "if-modified-since",
			"if-unmodified-since", "if-range");

	private final boolean raw;

	private final Set<String> headers;

	private final Set<String> ignoredParameters;

	RequestFingerprint(HttpSettings settings) {
		this.raw = settings.rawFingerprint();
		this.headers = new TreeSet<>(CONDITIONS);
		this.headers.addAll(settings.fingerprintHeaders());
		this.ignoredParameters = settings.ignoredParameters();
	}

	/**
	 * Returns the fingerprint of a request.
	 * @param request the request as the handler sees it
	 * @param guarded the request as the filter sees it
	 * @param key the place of the key in the request
	 * @return the fingerprint
	 * @throws IOException if a part of the body could not be read
	 * @throws IdempotencyBodyTooLargeException if the body is over the limit
	 */
	Fingerprint of(HttpServletRequest request, RecordingRequest guarded, KeySource key) throws IOException {
		guarded.requireSize(request.getContentLengthLong());
		ContentType contentType = ContentType.of(request.getContentType());
		Set<String> ignored = ignoredParameters(request, contentType, key);
		Fingerprint.Builder fingerprint = Fingerprint.of(this.raw ? BY_BYTES : BY_VALUE);
		fingerprint.add(request.getMethod()).add(request.getRequestURI());
		addDispatches(fingerprint, request);
		addHeaders(fingerprint, request);
		addQuery(fingerprint, request.getQueryString(), ignored);
		switch (contentType) {
			case JSON -> addJson(fingerprint, request, guarded);
			case FORM -> addForm(fingerprint, request, guarded, ignored);
			case MULTIPART -> addParts(fingerprint, request, guarded, ignored);
			case OTHER -> addBytes(fingerprint, guarded.body());
		}
		return fingerprint.build();
	}

	private Set<String> ignoredParameters(HttpServletRequest request, ContentType contentType, KeySource key) {
		Set<String> ignored = new HashSet<>(this.ignoredParameters);
		String csrf = CsrfParameter.name(request);
		if (csrf != null) {
			ignored.add(csrf);
		}
		boolean form = contentType == ContentType.FORM || contentType == ContentType.MULTIPART;
		if (form && key instanceof KeySource.Body field) {
			ignored.add(field.pointer());
		}
		return ignored;
	}

	private static void addDispatches(Fingerprint.Builder fingerprint, HttpServletRequest request) {
		for (String attribute : DISPATCHES) {
			fingerprint.add((request.getAttribute(attribute) instanceof String text) ? text : null);
		}
	}

	private void addHeaders(Fingerprint.Builder fingerprint, HttpServletRequest request) {
		for (String name : this.headers) {
			Enumeration<String> sent = request.getHeaders(name);
			if (sent.hasMoreElements()) {
				List<String> values = Collections.list(sent);
				fingerprint.add("header").add(name).add(Integer.toString(values.size()));
				values.forEach(fingerprint::add);
			}
		}
	}

	private static void addQuery(Fingerprint.Builder fingerprint, @Nullable String query, Set<String> ignored) {
		Map<String, List<String>> parameters = (query != null) ? FormData.parse(query, StandardCharsets.UTF_8)
				: Map.of();
		if (parameters == null || FormData.isLossy(parameters)) {
			fingerprint.add("raw-query").add(query);
		}
		else {
			addParameters(fingerprint.add("query"), parameters, ignored);
		}
	}

	private static void addParameters(Fingerprint.Builder fingerprint, Map<String, List<String>> parameters,
			Set<String> ignored) {
		Map<String, List<String>> compared = new TreeMap<>(parameters);
		compared.keySet().removeAll(ignored);
		fingerprint.add(Integer.toString(compared.size()));
		compared.forEach((name, values) -> {
			fingerprint.add(name).add(Integer.toString(values.size()));
			values.forEach(fingerprint::add);
		});
	}

	private void addJson(Fingerprint.Builder fingerprint, HttpServletRequest request, RecordingRequest guarded) {
		boolean byValue = !this.raw
				&& ContentType.isUtf8(ContentType.charset(request.getContentType(), request.getCharacterEncoding()));
		ByteBuffer comparable = byValue ? guarded.comparableJson() : null;
		if (comparable != null) {
			fingerprint.add("json").add(comparable);
		}
		else {
			addBytes(fingerprint, guarded.body());
		}
	}

	private static void addBytes(Fingerprint.Builder fingerprint, ByteBuffer body) {
		fingerprint.add("bytes").add(body);
	}

	private static void addForm(Fingerprint.Builder fingerprint, HttpServletRequest request, RecordingRequest guarded,
			Set<String> ignored) {
		ByteBuffer body = guarded.readForm();
		Map<String, List<String>> parameters = parameters(request);
		if (request.getContentLengthLong() < 0) {
			guarded.requireSize(size(parameters));
		}
		addParameters(fingerprint.add("form"), parameters, ignored);
		if (body.hasRemaining() && !guarded.isFormRead()) {
			// The form does not become parameters, or they do not tell all of it: the
			// request is no POST, or the form is malformed, is no text in its charset or
			// has too many parameters.
			addBytes(fingerprint, body);
		}
	}

	private static void addParts(Fingerprint.Builder fingerprint, HttpServletRequest request, RecordingRequest guarded,
			Set<String> ignored) throws IOException {
		List<RequestPart> parts = RequestPart.of(request);
		if (parts.isEmpty()) {
			addBytes(fingerprint, guarded.body());
			return;
		}
		guarded.requireSize(parts.stream().mapToLong(RequestPart::size).sum());
		addParameters(fingerprint.add("parts"), parameters(request), ignored);
		for (RequestPart part : parts) {
			if (part.fileName() == null && ignored.contains(part.name())) {
				continue;
			}
			fingerprint.add(part.name()).add(part.fileName()).add(part.contentType()).add(part.digest());
		}
	}

	private static Map<String, List<String>> parameters(HttpServletRequest request) {
		Map<String, List<String>> parameters = new TreeMap<>();
		request.getParameterMap().forEach((name, values) -> parameters.put(name, Arrays.asList(values)));
		return parameters;
	}

	/**
	 * Returns the least number of bytes that the container has read of a body without a
	 * declared length.
	 */
	private static long size(Map<String, List<String>> parameters) {
		long size = 0;
		for (Map.Entry<String, List<String>> parameter : parameters.entrySet()) {
			for (String value : parameter.getValue()) {
				// Spring's filter for forms that are not posted gives no value for a name
				// that stands alone.
				size += parameter.getKey().length() + ((value != null) ? value.length() : 0);
			}
		}
		return size;
	}

	/**
	 * Knows the parameter in which a page sends the token against forged requests. Spring
	 * Security masks the token anew on each page, so its value says nothing about the
	 * request.
	 */
	private static final class CsrfParameter {

		private static final boolean SPRING_SECURITY = ClassUtils
			.isPresent("org.springframework.security.web.csrf.CsrfToken", CsrfParameter.class.getClassLoader());

		private CsrfParameter() {
		}

		/**
		 * Returns the name of the parameter of a request.
		 * @param request the request
		 * @return the name, {@code null} if Spring Security does not guard the request
		 * against forgery or the client cannot have sent a token
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
			 * Returns whether the client may have sent a token. Spring Security creates a
			 * token and a session when it is asked for the name, so it is not asked for a
			 * client without a session and without cookies.
			 */
			private static boolean hasState(HttpServletRequest request) {
				return request.getRequestedSessionId() != null || request.getCookies() != null
						|| request.getSession(false) != null;
			}

		}

	}

}
