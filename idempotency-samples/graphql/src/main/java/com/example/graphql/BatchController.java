package com.example.graphql;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.graphql.server.WebGraphQlHandler;
import org.springframework.graphql.server.WebGraphQlRequest;
import org.springframework.http.HttpHeaders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * Several documents in one request. All of them share one header, so the position in the
 * batch is part of the key of each document.
 */
@RestController
public class BatchController {

	private static final String KEY = "Idempotency-Key";

	private final WebGraphQlHandler documents;

	public BatchController(WebGraphQlHandler documents) {
		this.documents = documents;
	}

	/** Dispatches all documents at once, on the thread of the request. */
	@PostMapping("/graphql/batch")
	public Mono<List<Map<String, Object>>> execute(@RequestBody List<Map<String, Object>> batch,
			@RequestHeader(KEY) String key) {
		return Flux.range(0, batch.size())
			.flatMapSequential(
					(position) -> this.documents.handleRequest(request(batch.get(position), key + "/" + position)))
			.map((response) -> response.getExecutionResult().toSpecification())
			.collectList();
	}

	private static WebGraphQlRequest request(Map<String, Object> document, String key) {
		HttpHeaders headers = new HttpHeaders();
		headers.set(KEY, key);
		return new WebGraphQlRequest(URI.create("/graphql"), headers, null, null, Map.of(), document,
				UUID.randomUUID().toString(), null);
	}

}
