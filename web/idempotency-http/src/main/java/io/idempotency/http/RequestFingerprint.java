package io.idempotency.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.Internal;
import io.idempotency.interceptor.KeySource;
import io.idempotency.key.Fingerprint;
import org.jspecify.annotations.Nullable;

/**
 * Makes the fingerprint of a request: method, path, query and body, and the headers that
 * ask for another answer. Thread-safe.
 * <p>
 * A change of the compared values, or of the way to compare them, needs another name of
 * the algorithm, so that a fingerprint of one version of the library is never taken for
 * that of another version.
 *
 * @hidden
 */
@Internal
public final class RequestFingerprint {

	private static final String BY_VALUE = "http-json5";

	private static final String BY_BYTES = "http-raw3";

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

	public RequestFingerprint(HttpSettings settings) {
		this.raw = settings.rawFingerprint();
		this.headers = new TreeSet<>(CONDITIONS);
		this.headers.addAll(settings.fingerprintHeaders());
		this.ignoredParameters = settings.ignoredParameters();
	}

	/**
	 * Returns the fingerprint of a request.
	 * @param key the place of the key in the request
	 * @throws IOException if a part of the body could not be read
	 * @throws IdempotencyBodyTooLargeException if the body is over the limit
	 */
	public Fingerprint of(ComparedRequest request, KeySource key) throws IOException {
		request.requireSize(request.contentLength());
		ContentType contentType = ContentType.of(request.contentType());
		Set<String> ignored = ignoredParameters(request, contentType, key);
		Fingerprint.Builder fingerprint = Fingerprint.of(this.raw ? BY_BYTES : BY_VALUE);
		fingerprint.add(request.method()).add(request.path());
		request.dispatches(fingerprint::add);
		addHeaders(fingerprint, request);
		addQuery(fingerprint, request.query(), ignored);
		switch (contentType) {
			case JSON -> addJson(fingerprint, request);
			case FORM -> addForm(fingerprint, request, ignored);
			case MULTIPART -> addParts(fingerprint, request, ignored);
			case OTHER -> addBytes(fingerprint, request.body());
		}
		return fingerprint.build();
	}

	private Set<String> ignoredParameters(ComparedRequest request, ContentType contentType, KeySource key) {
		String csrf = request.csrfParameter();
		boolean form = contentType.isForm();
		String field = (form && key instanceof KeySource.Body body) ? body.pointer() : null;
		if (csrf == null && field == null) {
			return this.ignoredParameters;
		}
		Set<String> ignored = new HashSet<>(this.ignoredParameters);
		ignored.add((csrf != null) ? csrf : field);
		ignored.add((field != null) ? field : csrf);
		return ignored;
	}

	private void addHeaders(Fingerprint.Builder fingerprint, ComparedRequest request) {
		for (String name : this.headers) {
			List<String> values = request.headers(name);
			if (!values.isEmpty()) {
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
		if (parameters.isEmpty()) {
			fingerprint.add("0");
			return;
		}
		Map<String, List<String>> compared = new TreeMap<>(parameters);
		compared.keySet().removeAll(ignored);
		fingerprint.add(Integer.toString(compared.size()));
		compared.forEach((name, values) -> {
			fingerprint.add(name).add(Integer.toString(values.size()));
			values.forEach(fingerprint::add);
		});
	}

	private void addJson(Fingerprint.Builder fingerprint, ComparedRequest request) {
		boolean byValue = !this.raw
				&& ContentType.isUtf8(ContentType.charset(request.contentType(), request.characterEncoding()));
		if (!byValue || !request.compareJson((form) -> fingerprint.add("json").add(form))) {
			addBytes(fingerprint, request.body());
		}
	}

	private static void addBytes(Fingerprint.Builder fingerprint, ByteBuffer body) {
		fingerprint.add("bytes").add(body);
	}

	private static void addForm(Fingerprint.Builder fingerprint, ComparedRequest request, Set<String> ignored) {
		ByteBuffer body = request.form();
		Map<String, List<String>> parameters = request.parameters();
		if (request.contentLength() < 0) {
			request.requireSize(size(parameters));
		}
		addParameters(fingerprint.add("form"), parameters, ignored);
		if (body.hasRemaining() && !request.isFormRead()) {
			// The form does not become parameters, or they do not tell all of it: the
			// request is no POST, or the form is malformed, is no text in its charset or
			// has too many parameters.
			addBytes(fingerprint, body);
		}
	}

	private static void addParts(Fingerprint.Builder fingerprint, ComparedRequest request, Set<String> ignored)
			throws IOException {
		List<RequestPart> parts = request.parts();
		if (parts.isEmpty()) {
			addBytes(fingerprint, request.body());
			return;
		}
		request.requireSize(parts.stream().mapToLong(RequestPart::size).sum());
		addParameters(fingerprint.add("parts"), request.parameters(), ignored);
		for (RequestPart part : parts) {
			if (part.fileName() == null && ignored.contains(part.name())) {
				continue;
			}
			fingerprint.add(part.name()).add(part.fileName()).add(part.contentType()).add(part.digest());
		}
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

}
