package io.idempotency.web;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;

import io.idempotency.ScopeMode;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RequestFingerprint;
import io.idempotency.key.Fingerprint;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

/** By value or byte by byte; what takes part is in {@link WhatIsComparedTests}. */
class RequestFingerprintTests {

	private static final HandlerOperationFinder NOT_ASKED = new HandlerOperationFinder(() -> {
		throw new IllegalStateException("Nothing is too large");
	});

	@Test
	void jsonIsComparedByValueUnlessBytesAreAskedFor() throws IOException {
		assertThat(of(false, "{\"a\":1}")).isEqualTo(of(false, "{ \"a\" : 1 }"));
		assertThat(of(true, "{\"a\":1}")).isEqualTo(of(true, "{\"a\":1}"));
		assertThat(of(true, "{\"a\":1}")).isNotEqualTo(of(true, "{ \"a\" : 1 }"));
	}

	@Test
	void fingerprintOfOneWayNeverMatchesThatOfAnother() throws IOException {
		// What is no JSON is compared byte by byte both ways.
		assertThat(of(false, "a")).isNotEqualTo(of(true, "a"));
	}

	private static Fingerprint of(boolean raw, String body) throws IOException {
		HttpSettings settings = new HttpSettings("Idempotent-Replayed", 1 << 20, 1 << 20,
				HttpSettings.DEFAULTS.releaseOn(), Set.of(), raw, ScopeMode.PRINCIPAL, false, Set.of(), Set.of(),
				Set.of(), "urn:idempotency:", null, "/idempotency/tokens");
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/pay");
		request.setContentType("application/json");
		request.setContent(body.getBytes(StandardCharsets.UTF_8));
		RecordingRequest guarded = new RecordingRequest(request, NOT_ASKED, 1000);
		return new RequestFingerprint(settings).of(new HttpRequestValues(guarded),
				new KeySource.Header("Idempotency-Key"));
	}

}
