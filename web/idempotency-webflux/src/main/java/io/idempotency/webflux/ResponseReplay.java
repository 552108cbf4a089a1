package io.idempotency.webflux;

import java.util.ArrayList;

import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.http.StoredResponse.EndedBy;
import io.idempotency.http.StoredResponse.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;

/**
 * Writes stored responses.
 *
 * @param settings the settings of the HTTP adapter
 */
record ResponseReplay(HttpSettings settings) {

	private static final Logger logger = LoggerFactory.getLogger(ResponseReplay.class);

	Mono<Void> replay(@Nullable StoredResponse stored, ServerWebExchange exchange) {
		ServerHttpResponse response = exchange.getResponse();
		if (stored == null || response.isCommitted()) {
			logger.warn("[IDEM-302] A stored response cannot be replayed, because the current response is already "
					+ "committed: the client receives that response instead. Let filters write to the response "
					+ "after the handler.");
			return Mono.empty();
		}
		response.setStatusCode(HttpStatusCode.valueOf(stored.status()));
		HttpHeaders headers = response.getHeaders();
		if (stored.contentType() != null) {
			headers.set(HttpHeaders.CONTENT_TYPE, stored.contentType());
		}
		for (Header header : stored.headers()) {
			if (!header.name().equals(StoredResponse.RANGE)) {
				set(header, headers);
			}
		}
		mark(headers, Header.isIn(stored.headers(), HttpHeaders.CACHE_CONTROL));
		if (stored.ending() == EndedBy.REDIRECT && stored.text() != null) {
			headers.set(HttpHeaders.LOCATION, stored.text());
		}
		if (stored.body().hasRemaining()) {
			return Bodies.write(response, stored.body());
		}
		if (!isWithoutContent(stored.status())) {
			headers.setContentLength(Math.max(stored.contentLength(), 0));
		}
		return response.setComplete();
	}

	/**
	 * Returns whether a status excludes a body. Some servers send a length for these, and
	 * some clients then wait for a body.
	 */
	private static boolean isWithoutContent(int status) {
		return status == HttpStatus.NO_CONTENT.value() || status == HttpStatus.NOT_MODIFIED.value();
	}

	private static void set(Header header, HttpHeaders headers) {
		if (header.replaces()) {
			headers.put(header.name(), new ArrayList<>(header.values()));
		}
		else {
			header.values().forEach((value) -> headers.add(header.name(), value));
		}
	}

	/**
	 * Marks a response as a replay.
	 * @param cached whether the handler set a caching header
	 */
	void mark(HttpHeaders headers, boolean cached) {
		headers.set(this.settings.replayedHeader(), "true");
		if (!cached) {
			headers.set(HttpHeaders.CACHE_CONTROL, "no-store");
		}
	}

}
