package io.idempotency.it.webflux;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.Idempotent;
import io.idempotency.it.scenarios.Runs;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseCookie;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.result.view.View;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/** Every kind of answer that a handler can give. */
@RestController
@Idempotent
class ScenariosOfAnswers {

	private final Runs runs;

	ScenariosOfAnswers(Runs runs) {
		this.runs = runs;
	}

	private Mono<Integer> run(String scenario) {
		return Mono.fromSupplier(() -> this.runs.run(scenario));
	}

	@PostMapping("/answers/pojo")
	public Mono<Map<String, Object>> pojo() {
		return run("/answers/pojo").map((run) -> Map.of("run", run));
	}

	@PostMapping("/answers/record")
	public Mono<Receipt> record() {
		return run("/answers/record").map((run) -> new Receipt(run, "größer", null));
	}

	@PostMapping("/answers/null-body")
	public Mono<Receipt> nullBody() {
		return run("/answers/null-body").then(Mono.empty());
	}

	@PostMapping(path = "/answers/bytes", produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
	public Mono<byte[]> bytes() {
		return run("/answers/bytes").map((run) -> {
			byte[] bytes = new byte[256];
			for (int i = 0; i < bytes.length; i++) {
				bytes[i] = (byte) i;
			}
			return bytes;
		});
	}

	@PostMapping("/answers/resource")
	public Mono<ResponseEntity<Resource>> resource() {
		return run("/answers/resource").map((run) -> ResponseEntity.ok()
			.header("Content-Disposition", "attachment; filename=\"receipt.txt\"")
			.contentType(MediaType.TEXT_PLAIN)
			.body(new ByteArrayResource(("run " + run).getBytes(UTF_8))));
	}

	@PostMapping(path = "/answers/text", produces = "text/plain;charset=UTF-8")
	public Mono<String> text() {
		return run("/answers/text").map((run) -> "Grüße " + run);
	}

	@PostMapping("/answers/number")
	public Mono<Integer> number() {
		return run("/answers/number");
	}

	@PostMapping("/answers/false")
	public Mono<Boolean> falsy() {
		return run("/answers/false").map((run) -> run > 1);
	}

	@PostMapping("/answers/created")
	public Mono<ResponseEntity<Receipt>> created() {
		return run("/answers/created").map((run) -> ResponseEntity.created(URI.create("/receipts/" + run))
			.eTag("\"v" + run + "\"")
			.header("X-Many", "one", "two")
			.header("Set-Cookie", "secret=1")
			.body(new Receipt(run, "created", null)));
	}

	@PostMapping("/answers/content-length")
	public Mono<ResponseEntity<byte[]>> contentLength() {
		return run("/answers/content-length").map((run) -> {
			byte[] body = ("run " + run).getBytes(UTF_8);
			return ResponseEntity.ok().contentLength(body.length).contentType(MediaType.TEXT_PLAIN).body(body);
		});
	}

	@PostMapping("/answers/no-content")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	public Mono<Void> noContent() {
		return run("/answers/no-content").then();
	}

	/** Written bit by bit, and not flushed. */
	@PostMapping("/answers/stream")
	public Mono<Void> stream(ServerHttpResponse response) {
		response.getHeaders().setContentType(MediaType.APPLICATION_OCTET_STREAM);
		return response.writeWith(run("/answers/stream")
			.flatMapMany((run) -> Flux.just(new byte[] { 0 }, new byte[] { 1, 2, run.byteValue() }))
			.map(response.bufferFactory()::wrap));
	}

	@PostMapping("/answers/handler-cache-control")
	public Mono<ResponseEntity<String>> cacheControl() {
		return run("/answers/handler-cache-control")
			.map((run) -> ResponseEntity.ok().header("Cache-Control", "private, max-age=5").body("cached"));
	}

	@PostMapping("/answers/cookie")
	public Mono<String> cookie(ServerHttpResponse response) {
		response.addCookie(ResponseCookie.from("session", "secret").build());
		return run("/answers/cookie").map((run) -> "run " + run);
	}

	@PostMapping("/answers/exception-handler")
	public Mono<String> exceptionHandler() {
		return run("/answers/exception-handler")
			.flatMap((run) -> Mono.error(new ScenariosApplication.OutOfStockException("sold out in run " + run)));
	}

	@PostMapping("/answers/response-status-exception")
	public Mono<String> responseStatusException() {
		return run("/answers/response-status-exception")
			.flatMap((run) -> Mono.error(new ResponseStatusException(HttpStatus.CONFLICT, "taken in run " + run)));
	}

	@PostMapping("/answers/list")
	public Mono<List<Receipt>> list() {
		return run("/answers/list").map((run) -> List.of(new Receipt(run, "a", List.of("x"))));
	}

	@PostMapping("/async/future")
	public Mono<String> future() {
		return Mono.fromFuture(() -> {
			return CompletableFuture.supplyAsync(() -> "run " + this.runs.run("/async/future"));

		}, true);
	}

	@PostMapping("/async/future-failed")
	public Mono<String> futureFailed() {
		return Mono.fromFuture(() -> {
			return CompletableFuture.supplyAsync(() -> {
				throw new ScenariosApplication.OutOfStockException(
						"sold out in run " + this.runs.run("/async/future-failed"));
			});

		}, true);
	}

	@PostMapping("/async/held/{id}")
	public Mono<String> held(@PathVariable String id) {
		return Mono.fromFuture(() -> {
			this.runs.run("/async/held/" + id);
			return this.runs.held(id);

		}, true);
	}

	@PostMapping(path = "/async/sse/{id}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	public Flux<String> events(@PathVariable String id) {
		return run("/async/sse/" + id).map((run) -> "first")
			.concatWith(Mono.fromFuture(() -> this.runs.held(id), true));
	}

	@PostMapping(path = "/async/flux", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	public Flux<String> flux() {
		return run("/async/flux").flatMapMany((run) -> Flux.just("a" + run, "b" + run));
	}

	@PostMapping("/async/mono")
	public Mono<Receipt> mono() {
		return run("/async/mono").map((run) -> new Receipt(run, "mono", null));
	}

	@PostMapping("/failures/status/{status}")
	public Mono<ResponseEntity<String>> status(@PathVariable int status) {
		return run("/failures/status/" + status).map((run) -> ResponseEntity.status(status).body("run " + run));
	}

	@PostMapping("/failures/exception")
	public Mono<String> exception() {
		return run("/failures/exception")
			.flatMap((run) -> Mono.error(new IllegalStateException("broken in run " + run)));
	}

	/** Another server has hung up, which Spring takes for the client. */
	@PostMapping("/failures/lost-connection")
	public Mono<String> lostConnection() {
		return Mono.fromCallable(() -> {
			this.runs.run("/failures/lost-connection");
			throw lost();

		});
	}

	@PostMapping("/failures/lost-connection-later")
	public Mono<String> lostConnectionLater() {
		return run("/failures/lost-connection-later").flatMap((run) -> Mono.error(lost()));
	}

	private static RuntimeException lost() {
		return new IllegalStateException("The bank cannot be reached", new IOException("Connection reset by peer"));
	}

	/** Done, but its answer cannot be written. */
	@PostMapping("/failures/unwritable")
	public Mono<Unwritable> unwritable() {
		return run("/failures/unwritable").map((run) -> new Unwritable());
	}

	@PostMapping("/failures/unwritable-later")
	public Mono<Unwritable> unwritableLater() {
		return Mono.fromFuture(() -> {
			this.runs.run("/failures/unwritable-later");
			return CompletableFuture.supplyAsync(Unwritable::new, CompletableFuture.delayedExecutor(50, MILLISECONDS));

		}, true);
	}

	@PostMapping("/failures/future-503")
	public Mono<String> failedFuture() {
		return Mono.fromFuture(() -> {
			int run = this.runs.run("/failures/future-503");
			return CompletableFuture.supplyAsync(() -> {
				throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "busy in run " + run);
			});

		}, true);
	}

	@PostMapping("/failures/send-error-503")
	public Mono<Void> answerWithError(ServerHttpResponse response) {
		return run("/failures/send-error-503").then(Mono.defer(() -> {
			response.setStatusCode(HttpStatus.SERVICE_UNAVAILABLE);
			return response.setComplete();
		}));
	}

	@PostMapping("/failures/remembered-exception")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public Mono<String> rememberedException() {
		return run("/failures/remembered-exception")
			.flatMap((run) -> Mono.error(new IllegalStateException("broken in run " + run)));
	}

	@PostMapping("/failures/remembered-status")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public Mono<ResponseEntity<String>> rememberedStatus() {
		return run("/failures/remembered-status").map((run) -> ResponseEntity.status(503).body("run " + run));
	}

	@PostMapping("/failures/remembered-response-status")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public Mono<String> rememberedResponseStatus() {
		return run("/failures/remembered-response-status")
			.flatMap((run) -> Mono.error(new ResponseStatusException(HttpStatus.BAD_GATEWAY, "run " + run)));
	}

	/** The call of a guarded bean is rejected, for now. */
	@PostMapping("/failures/remembered-rejection")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public Mono<String> rememberedRejection() {
		this.runs.run("/failures/remembered-rejection");
		throw busy();
	}

	@PostMapping("/failures/remembered-rejection-later")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public Mono<String> rememberedRejectionLater() {
		return Mono.fromFuture(() -> {
			this.runs.run("/failures/remembered-rejection-later");
			return CompletableFuture.supplyAsync(() -> {
				throw busy();
			});

		}, true);
	}

	@PostMapping("/failures/remembered-rejection-deferred")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public Mono<String> rememberedRejectionDeferred() {
		return run("/failures/remembered-rejection-deferred").flatMap((run) -> Mono.error(busy()));
	}

	private static IdempotencyInProgressException busy() {
		return new IdempotencyInProgressException("payments.pay", Duration.ofSeconds(2));
	}

	record Receipt(int run, String text, @Nullable List<String> items) {
	}

	static final class Unwritable {

		public String getTotal() {
			throw new IllegalStateException("cannot be read outside its session");
		}

	}

	/** Answers that are no bodies. */
	@Controller
	static class Views {

		private final Runs runs;

		Views(Runs runs) {
			this.runs = runs;
		}

		@PostMapping("/failures/unwritable-view")
		@Idempotent
		public Mono<View> unwritable() {
			return Mono.fromCallable(() -> {
				this.runs.run("/failures/unwritable-view");
				return new View() {

					@Override
					public List<MediaType> getSupportedMediaTypes() {
						return List.of(MediaType.ALL);
					}

					@Override
					public Mono<Void> render(@Nullable Map<String, ?> model, @Nullable MediaType type,
							ServerWebExchange exchange) {
						return Mono.error(new IllegalStateException("no view"));
					}

				};

			});
		}

	}

}
