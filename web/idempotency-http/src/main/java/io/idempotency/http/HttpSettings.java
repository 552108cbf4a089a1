package io.idempotency.http;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.idempotency.Internal;
import io.idempotency.ScopeMode;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the HTTP adapter, from {@code idempotency.*}.
 *
 * @param replayedHeader the response header that marks a replay
 * @param maxRequestSize maximum size in bytes of the body of a guarded request
 * @param maxResponseSize maximum size in bytes of a stored response
 * @param releaseOn status codes that release the key
 * @param excludedHeaders response headers that are never stored, in upper or lower case
 * @param rawFingerprint whether JSON bodies are compared byte by byte
 * @param scope the scope of keys without a resolver
 * @param anonymousRejected whether a guarded request without a principal is rejected
 * @param scopeHeaders request headers that are part of the caller, such as the tenant, in
 * upper or lower case; a missing header differs from every value
 * @param fingerprintHeaders request headers that must be equal on a retry, in addition to
 * those that request a part of a response, in upper or lower case
 * @param ignoredParameters names of query and form parameters that may differ on a retry
 * @param problemTypeBase the beginning of a problem type; the code is appended
 * @param retentionOnError maximum retention of a 4xx response, {@code null} for the
 * retention of the operation
 * @param tokenPath path of the endpoint that issues tokens
 * @hidden
 */
@Internal
public record HttpSettings(String replayedHeader, long maxRequestSize, long maxResponseSize, Set<Integer> releaseOn,
		Set<String> excludedHeaders, boolean rawFingerprint, ScopeMode scope, boolean anonymousRejected,
		Set<String> scopeHeaders, Set<String> fingerprintHeaders, Set<String> ignoredParameters, String problemTypeBase,
		@Nullable Duration retentionOnError, String tokenPath) {

	// This constant comes first, because the next one needs it.
	private static final Pattern STATUS_PATTERN = Pattern.compile("[45](?:[0-9][0-9]|xx)");

	/** The defaults of {@code idempotency.*}. */
	public static final HttpSettings DEFAULTS = new HttpSettings("Idempotent-Replayed", 1 << 20, 1 << 20,
			statusCodes(List.of("401", "403", "408", "425", "429", "5xx")), Set.of(), false, ScopeMode.PRINCIPAL, false,
			Set.of(), Set.of(), Set.of(), "urn:idempotency:", null, "/idempotency/tokens");

	/** The maximum length of an array is slightly below the largest integer. */
	private static final long MAX_SIZE = Integer.MAX_VALUE - 1024;

	/** Validates the components and converts header names to lower case. */
	public HttpSettings {
		if (replayedHeader.isBlank()) {
			throw new IllegalArgumentException("replayedHeader must not be empty");
		}
		requireSize("maxRequestSize", maxRequestSize);
		requireSize("maxResponseSize", maxResponseSize);
		if (retentionOnError != null && (retentionOnError.isZero() || retentionOnError.isNegative())) {
			throw new IllegalArgumentException("retentionOnError must be positive, not " + retentionOnError);
		}
		releaseOn = Set.copyOf(releaseOn);
		excludedHeaders = lowerCase(excludedHeaders);
		scopeHeaders = lowerCase(scopeHeaders);
		fingerprintHeaders = lowerCase(fingerprintHeaders);
		ignoredParameters = Set.copyOf(ignoredParameters);
	}

	private static void requireSize(String name, long size) {
		if (size < 0 || size > MAX_SIZE) {
			throw new IllegalArgumentException(name + " must be 0 to " + MAX_SIZE + " bytes, not " + size);
		}
	}

	/** Returns whether a text is a code from 400 to 599, {@code 4xx} or {@code 5xx}. */
	public static boolean isStatusPattern(String text) {
		return STATUS_PATTERN.matcher(text.strip().toLowerCase(Locale.ROOT)).matches();
	}

	/**
	 * Returns the status codes of patterns.
	 * @throws IllegalArgumentException if one of them is not a status pattern
	 */
	public static Set<Integer> statusCodes(Collection<String> patterns) {
		Set<Integer> codes = new HashSet<>();
		for (String pattern : patterns) {
			if (!isStatusPattern(pattern)) {
				throw new IllegalArgumentException(
						"'" + pattern + "' is not an error status such as 429 or a class of them (4xx or 5xx)");
			}
			String digits = pattern.strip().toLowerCase(Locale.ROOT);
			int first = Integer.parseInt(digits.replace('x', '0'));
			int last = digits.endsWith("xx") ? first + 99 : first;
			IntStream.rangeClosed(first, last).forEach(codes::add);
		}
		return codes;
	}

	private static Set<String> lowerCase(Collection<String> names) {
		return names.stream().map((name) -> name.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
	}

}
