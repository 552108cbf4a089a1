package io.idempotency.it.webflux;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.idempotency.Idempotent;
import io.idempotency.it.scenarios.Runs;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpEntity;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Handlers that read the request in every way there is, and say what they got. */
@RestController
@RequestMapping("/requests")
@Idempotent
class ScenariosOfRequests {

	private final Runs runs;

	ScenariosOfRequests(Runs runs) {
		this.runs = runs;
	}

	private <T, R> Function<T, R> counted(String path, Function<T, R> work) {
		return (value) -> {
			this.runs.run("/requests/" + path);
			return work.apply(value);
		};
	}

	@PostMapping("/json")
	public Mono<Map<String, Object>> json(@RequestBody Mono<Map<String, Object>> body) {
		return body.map(counted("json", Function.identity()));
	}

	@PostMapping("/text")
	public Mono<String> text(@RequestBody(required = false) String body) {
		return Mono.fromCallable(() -> {
			this.runs.run("/requests/text");
			return "got " + body;

		});
	}

	@PostMapping("/entity")
	public Mono<String> entity(HttpEntity<Mono<String>> entity) {
		return entity.getBody().map(counted("entity", (body) -> "got " + body));
	}

	/** The bytes as they came. */
	@PostMapping({ "/input-stream", "/servlet-request", "/bytes" })
	public Mono<String> bytes(ServerHttpRequest request) {
		String path = request.getPath().value().substring("/requests/".length());
		return DataBufferUtils.join(request.getBody()).map(counted(path, (buffer) -> "got " + text(buffer)));
	}

	private static String text(DataBuffer buffer) {
		String text = buffer.toString(UTF_8);
		DataBufferUtils.release(buffer);
		return text;
	}

	@PostMapping({ "/form", "/form-map", "/servlet-parameters" })
	public Mono<String> form(ServerWebExchange exchange) {
		String path = exchange.getRequest().getPath().value().substring("/requests/".length());
		return exchange.getFormData()
			.map(counted(path, (form) -> form.getFirst("sku") + " " + form.getOrDefault("tag", List.of())));
	}

	@PostMapping("/multipart")
	public Mono<String> multipart(@RequestPart String sku, @RequestPart FilePart file) {
		return DataBufferUtils.join(file.content())
			.map(counted("multipart",
					(buffer) -> sku + " " + file.filename() + " " + Arrays.toString(text(buffer).getBytes(UTF_8))));
	}

	@PostMapping("/query")
	public Mono<String> query(@RequestParam String a, @RequestParam(required = false) String b) {
		return Mono.fromSupplier(() -> "run " + this.runs.run("/requests/query"));
	}

}
