package io.idempotency.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.Internal;
import io.idempotency.http.CachedBody.ContentType;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.key.Fingerprint;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.InputStreamSource;

/**
 * Creates the fingerprint of a request from method, path, query and body, and from the
 * headers that request a different response. Thread-safe.
 * <p>
 * If the compared values or their comparison change, the name of the algorithm must
 * change. Fingerprints of different library versions then never match.
 *
 * @hidden
 */
@Internal
public final class RequestFingerprint {

	private static final String BY_VALUE = "http-json5";

	private static final String BY_BYTES = "http-raw3";

	/**
	 * The conditional headers. A response to such a header may have no content, so these
	 * headers are always compared. {@code Range} is not included, because a handler may
	 * respond to it with the whole content. {@link StoredResponse#answers} compares it.
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
	 * @param key the location of the key in the request
	 * @throws IOException if part of the body could not be read
	 * @throws IdempotencyBodyTooLargeException if the body exceeds the limit
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
		Set<String> ignored = new HashSet<>(this.ignoredParameters);
		String csrf = request.csrfParameter();
		if (csrf != null) {
			ignored.add(csrf);
		}
		if (contentType.isForm() && key instanceof KeySource.Body body) {
			ignored.add(body.pointer());
		}
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
		FormData parameters = FormData.parse(query, StandardCharsets.UTF_8);
		if (parameters.whole() && !FormData.isLossy(parameters.values())) {
			addParameters(fingerprint.add("query"), parameters.values(), ignored);
		}
		else {
			fingerprint.add("raw-query").add(query);
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
		if (body.hasRemaining() && (!request.isFormRead() || FormData.isLossy(parameters))) {
			// The parameters lack part of the form: it was not posted, is malformed, or
			// is not text in its charset.
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
	 * Returns the minimum number of bytes that the container read of a body without a
	 * declared length.
	 */
	private static long size(Map<String, List<String>> parameters) {
		long size = 0;
		for (Map.Entry<String, List<String>> parameter : parameters.entrySet()) {
			for (String value : parameter.getValue()) {
				// Spring's filter for forms that are not posted returns a null value for
				// a name without a value.
				size += parameter.getKey().length() + ((value != null) ? value.length() : 0);
			}
		}
		return size;
	}

	/**
	 * One part of a multipart form.
	 *
	 * @param fileName the file name, {@code null} for a plain field
	 * @param contentType the content type, {@code null} if the part has none
	 * @param size the size in bytes
	 * @param content opens the bytes, more than once if needed
	 * @hidden
	 */
	public record RequestPart(String name, @Nullable String fileName, @Nullable String contentType, long size,
			InputStreamSource content) {

		byte[] digest() throws IOException {
			MessageDigest digest = Fingerprint.sha256();
			try (InputStream stream = new DigestInputStream(this.content.getInputStream(), digest)) {
				stream.transferTo(OutputStream.nullOutputStream());
			}
			return digest.digest();
		}

	}

	/**
	 * A request on either stack. For the thread that handles it.
	 *
	 * @hidden
	 */
	public interface ComparedRequest extends RequestValues {

		String method();

		String path();

		/**
		 * Passes the original target of the client and the name of the inner handler to a
		 * consumer, if the request itself shows another target.
		 * @param values receives the same number of values for each request of a stack
		 */
		void dispatches(Consumer<@Nullable String> values);

		@Nullable String query();

		@Nullable String contentType();

		/** Returns the encoding of the request, which may only be a default. */
		@Nullable String characterEncoding();

		/** Returns the declared length of the body, -1 if it is unknown. */
		long contentLength();

		/**
		 * Returns the name of the parameter that contains the CSRF token, {@code null} if
		 * the request cannot have one.
		 */
		@Nullable String csrfParameter();

		/**
		 * Returns the parameters of the query and of the form, sorted by name. Values may
		 * be {@code null}.
		 */
		Map<String, List<String>> parameters();

		/**
		 * Returns the parts of a multipart form, sorted by name. Parts with the same name
		 * keep their order.
		 * @return the parts, empty if the request was not parsed
		 */
		List<RequestPart> parts() throws IOException;

		/**
		 * Returns the whole body.
		 * @throws IdempotencyBodyTooLargeException if the body exceeds the limit
		 */
		ByteBuffer body();

		/**
		 * Reads a form and adds its fields to the parameters.
		 * @return the form as it was sent, empty if the container read it
		 * @throws IdempotencyBodyTooLargeException if the body exceeds the limit
		 */
		ByteBuffer form();

		/** Returns whether the parameters contain all fields of the form. */
		boolean isFormRead();

		/**
		 * Creates the canonical form of a JSON body in UTF-8.
		 * @param form receives the form, which is valid during the call
		 * @return whether the body can be compared by value; otherwise {@code form} is
		 * not called
		 */
		boolean compareJson(Consumer<ByteBuffer> form);

		/**
		 * Rejects a body of at least the given size if it exceeds the limit.
		 * @throws IdempotencyBodyTooLargeException if the size exceeds the limit
		 */
		void requireSize(long size);

	}

}
