package io.idempotency.web;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.key.Fingerprint;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Makes the fingerprint of a request: method, path, query and body. Thread-safe.
 * <p>
 * A change of what is compared, or how, needs another name of the algorithm, so that two
 * versions of the library never compare what cannot be compared.
 */
final class RequestFingerprint {

	private static final String BY_VALUE = "http-json1";

	private static final String BY_BYTES = "http-raw1";

	private final boolean raw;

	RequestFingerprint(boolean raw) {
		this.raw = raw;
	}

	/**
	 * The fingerprint of a request.
	 * @param request the request as the handler sees it
	 * @param guarded the request as the filter sees it
	 * @return the fingerprint
	 * @throws IOException if the body could not be read
	 * @throws IdempotencyBodyTooLargeException if the body is over the limit
	 */
	Fingerprint of(HttpServletRequest request, GuardedRequest guarded) throws IOException {
		guarded.requireSize(request.getContentLengthLong());
		Fingerprint.Builder fingerprint = Fingerprint.of(this.raw ? BY_BYTES : BY_VALUE);
		fingerprint.add(request.getMethod()).add(request.getRequestURI());
		addQuery(fingerprint, request.getQueryString());
		switch (ContentType.of(request.getContentType())) {
			case JSON -> addJson(fingerprint, guarded.body());
			case FORM -> addForm(fingerprint, request, guarded);
			case MULTIPART -> addParts(fingerprint, request, guarded);
			case OTHER -> addBytes(fingerprint, guarded.body());
		}
		return fingerprint.build();
	}

	private static void addQuery(Fingerprint.Builder fingerprint, @Nullable String query) {
		Map<String, List<String>> parameters = (query != null) ? FormData.parse(query, StandardCharsets.UTF_8)
				: Map.of();
		if (parameters == null) {
			fingerprint.add("raw-query").add(query);
		}
		else {
			addParameters(fingerprint.add("query"), parameters);
		}
	}

	private static void addParameters(Fingerprint.Builder fingerprint, Map<String, List<String>> parameters) {
		fingerprint.add(Integer.toString(parameters.size()));
		new TreeMap<>(parameters).forEach((name, values) -> {
			fingerprint.add(name).add(Integer.toString(values.size()));
			values.forEach(fingerprint::add);
		});
	}

	private void addJson(Fingerprint.Builder fingerprint, byte[] body) {
		byte[] canonical = this.raw ? null : JsonCanonicalizer.canonicalize(body);
		if (canonical != null) {
			fingerprint.add("json").add(canonical);
		}
		else {
			addBytes(fingerprint, body);
		}
	}

	private static void addBytes(Fingerprint.Builder fingerprint, byte[] body) {
		fingerprint.add("bytes").add(body);
	}

	private static void addForm(Fingerprint.Builder fingerprint, HttpServletRequest request, GuardedRequest guarded)
			throws IOException {
		byte[] body = guarded.readForm();
		Map<String, List<String>> parameters = parameters(request);
		if (request.getContentLengthLong() < 0) {
			guarded.requireSize(size(parameters));
		}
		addParameters(fingerprint.add("form"), parameters);
		if (body.length > 0 && !"POST".equals(request.getMethod())) {
			// No container makes parameters of it.
			addBytes(fingerprint, body);
		}
	}

	private static void addParts(Fingerprint.Builder fingerprint, HttpServletRequest request, GuardedRequest guarded)
			throws IOException {
		List<RequestPart> parts = RequestPart.of(request);
		if (parts.isEmpty()) {
			addBytes(fingerprint, guarded.body());
			return;
		}
		guarded.requireSize(parts.stream().mapToLong(RequestPart::size).sum());
		addParameters(fingerprint.add("parts"), parameters(request));
		for (RequestPart part : parts) {
			fingerprint.add(part.name()).add(part.fileName()).add(part.contentType()).add(part.digest());
		}
	}

	private static Map<String, List<String>> parameters(HttpServletRequest request) {
		Map<String, List<String>> parameters = new TreeMap<>();
		request.getParameterMap().forEach((name, values) -> parameters.put(name, Arrays.asList(values)));
		return parameters;
	}

	/** At least what the container has read of a body whose length was not told. */
	private static long size(Map<String, List<String>> parameters) {
		long size = 0;
		for (Map.Entry<String, List<String>> parameter : parameters.entrySet()) {
			for (String value : parameter.getValue()) {
				size += parameter.getKey().length() + value.length();
			}
		}
		return size;
	}

}
