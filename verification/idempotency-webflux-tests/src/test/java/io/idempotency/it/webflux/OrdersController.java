package io.idempotency.it.webflux;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;

/** Guarded handlers of every kind; each run is counted under the path of its request. */
@RestController
class OrdersController {

	static final Map<String, AtomicInteger> RUNS = new ConcurrentHashMap<>();

	static final Map<String, Sinks.Empty<Void>> GATES = new ConcurrentHashMap<>();

	static int run(String name) {
		return RUNS.computeIfAbsent(name, (key) -> new AtomicInteger()).incrementAndGet();
	}

	static int runs(String name) {
		return RUNS.containsKey(name) ? RUNS.get(name).get() : 0;
	}

	record Order(@NotBlank String item) {
	}

	@Idempotent
	@PostMapping("/orders")
	Mono<ResponseEntity<String>> order(@RequestBody String body) {
		return Mono.fromSupplier(() -> {
			int run = run("orders");
			return ResponseEntity.created(URI.create("/orders/" + run))
				.header("X-Run", "r" + run)
				.body("{\"run\":" + run + "}");
		});
	}

	@Idempotent
	@PostMapping("/mono")
	Mono<String> mono() {
		return Mono.fromSupplier(() -> "run " + run("mono"));
	}

	@Idempotent
	@PostMapping("/empty")
	Mono<String> empty() {
		return Mono.fromRunnable(() -> run("empty"));
	}

	@Idempotent
	@PostMapping("/nothing")
	Mono<Void> nothing() {
		return Mono.fromRunnable(() -> run("nothing"));
	}

	@Idempotent
	@PostMapping("/flux")
	Flux<Order> flux() {
		return Flux.defer(() -> Flux.just(new Order("a" + run("flux")), new Order("b")));
	}

	@Idempotent
	@PostMapping("/future")
	Mono<String> future() {
		return Mono.fromFuture(() -> {
			return CompletableFuture.supplyAsync(() -> "run " + run("future"));

		}, true);
	}

	@Idempotent
	@PostMapping("/number")
	Mono<Integer> number() {
		return Mono.fromCallable(() -> {
			return run("number");

		});
	}

	@Idempotent
	@PostMapping("/void")
	Mono<Void> nothingAtAll() {
		return Mono.fromRunnable(() -> {
			run("void");

		});
	}

	@Idempotent
	@PostMapping("/entity")
	Mono<ResponseEntity<Order>> entity() {
		return Mono.fromCallable(() -> {
			return ResponseEntity.ok(new Order("run " + run("entity")));

		});
	}

	@Idempotent
	@PostMapping("/publisher")
	Publisher<String> publisher() {
		return Mono.fromSupplier(() -> "run " + run("publisher"));
	}

	@Idempotent
	@PostMapping("/mono-of-entity-of-flux")
	Mono<ResponseEntity<Flux<Order>>> monoOfEntityOfFlux() {
		return Mono.fromSupplier(() -> ResponseEntity.accepted()
			.body(Flux.defer(() -> Flux.just(new Order("run " + run("mono-of-entity-of-flux"))))));
	}

	@Idempotent
	@PostMapping("/entity-of-foreign-publisher")
	Mono<ResponseEntity<Flow.Publisher<String>>> entityOfForeignPublisher() {
		return Mono.fromCallable(() -> {
			return ResponseEntity.accepted()
				.body(JdkFlowAdapter
					.publisherToFlowPublisher(Mono.fromSupplier(() -> "run " + run("entity-of-foreign-publisher"))));

		});
	}

	@Idempotent
	@PostMapping("/future-entity")
	Mono<ResponseEntity<String>> futureEntity() {
		return Mono.fromFuture(() -> {
			return CompletableFuture.supplyAsync(() -> ResponseEntity.accepted().body("run " + run("future-entity")));

		}, true);
	}

	@Idempotent
	@PostMapping("/problem-later")
	Mono<ProblemDetail> problemLater() {
		return Mono.fromSupplier(
				() -> ProblemDetail.forStatusAndDetail(HttpStatus.PAYMENT_REQUIRED, "run " + run("problem-later")));
	}

	@Idempotent
	@PostMapping("/headers")
	Mono<HttpHeaders> headers() {
		return Mono.fromCallable(() -> {
			HttpHeaders headers = new HttpHeaders();
			headers.add("X-Run", "r" + run("headers"));
			return headers;

		});
	}

	@Idempotent
	@PostMapping("/resource")
	Mono<Resource> resource() {
		return Mono.fromSupplier(() -> new ByteArrayResource(("run " + run("resource")).getBytes()));
	}

	@Idempotent
	@PostMapping("/buffers")
	Flux<DataBuffer> buffers() {
		return Flux.defer(() -> Flux.just("run " + run("buffers"), " and more")
			.map((text) -> DefaultDataBufferFactory.sharedInstance.wrap(text.getBytes())));
	}

	@Idempotent
	@PostMapping("/written")
	Mono<Void> written(ServerWebExchange exchange) {
		exchange.getResponse().setStatusCode(HttpStatus.ACCEPTED);
		return exchange.getResponse()
			.writeWith(Mono
				.fromSupplier(() -> exchange.getResponse().bufferFactory().wrap(("run " + run("written")).getBytes())));
	}

	@Idempotent
	@PostMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<String> events() {
		return Flux.defer(() -> Flux.just("one " + run("events"), "two"));
	}

	@Idempotent
	@PostMapping("/rejected")
	Mono<String> rejected() {
		return Mono.error(() -> new WebFluxApplication.SoldException("run " + run("rejected")));
	}

	@Idempotent
	@PostMapping("/status/{code}")
	Mono<String> status(@PathVariable int code) {
		return Mono.error(() -> new ResponseStatusException(HttpStatus.valueOf(code), "run " + run("status-" + code)));
	}

	@Idempotent
	@PostMapping("/thrown")
	Mono<String> thrown() {
		throw new IllegalStateException("run " + run("thrown"));
	}

	@Idempotent(onFailure = FailureMode.REMEMBER)
	@PostMapping("/remembered")
	Mono<String> remembered() {
		return Mono.error(() -> new IllegalStateException("run " + run("remembered")));
	}

	@Idempotent(duplicateOn = IllegalStateException.class)
	@PostMapping("/already")
	Mono<String> already() {
		return Mono.error(() -> new IllegalStateException("run " + run("already")));
	}

	@Idempotent(key = "#order.item")
	@PostMapping("/by-argument")
	Mono<String> byArgument(@RequestBody Order order) {
		return Mono.fromSupplier(() -> "run " + run("by-argument"));
	}

	@Idempotent(body = "/item")
	@PostMapping("/by-body")
	Mono<String> byBody(@RequestBody Order order) {
		return Mono.fromSupplier(() -> order.item() + " run " + run("by-body"));
	}

	@Idempotent(body = "item")
	@PostMapping(path = "/form", consumes = MediaType.APPLICATION_FORM_URLENCODED_VALUE)
	Mono<String> form(ServerWebExchange exchange) {
		return exchange.getFormData().map((form) -> form.getFirst("text") + " run " + run("form"));
	}

	@Idempotent
	@PostMapping(path = "/upload", consumes = MediaType.MULTIPART_FORM_DATA_VALUE)
	Mono<String> upload(@RequestPart("file") FilePart file) {
		return file.content()
			.map((buffer) -> buffer.readableByteCount())
			.reduce(0, Integer::sum)
			.map((size) -> file.filename() + " " + size + " run " + run("upload"));
	}

	@Idempotent
	@PostMapping("/valid")
	Mono<String> valid(@Valid @RequestBody Order order) {
		return Mono.fromSupplier(() -> "run " + run("valid"));
	}

	@Idempotent
	@PostMapping("/valid-mono")
	Mono<String> validMono(@Valid @RequestBody Mono<Order> order) {
		return order.map((valid) -> "run " + run("valid-mono"));
	}

	@Idempotent
	@PreAuthorize("hasRole('BUYER')")
	@PostMapping("/bought")
	Mono<String> bought() {
		return Mono.fromSupplier(() -> "run " + run("bought"));
	}

	@Idempotent(mode = IdempotencyMode.REJECT)
	@PostMapping("/once")
	Mono<String> once() {
		return Mono.fromSupplier(() -> "run " + run("once"));
	}

	@Idempotent(conflict = ConflictMode.WAIT, waitTimeout = "60s")
	@PostMapping("/waiting")
	Mono<String> waiting(@RequestHeader("X-Gate") String gate) {
		return gate(gate).then(Mono.fromSupplier(() -> "run " + run("waiting")));
	}

	@PostMapping("/idle")
	Mono<Void> idle(@RequestHeader("X-Gate") String gate) {
		return gate(gate);
	}

	@Idempotent
	@PostMapping("/gated")
	Mono<String> gated(@RequestHeader("X-Gate") String gate) {
		run("gated");
		return gate(gate).thenReturn("answer");
	}

	@Idempotent(lease = "9s")
	@PostMapping("/renewed")
	Mono<String> renewed(@RequestHeader("X-Gate") String gate) {
		return gate(gate).thenReturn("answer");
	}

	/** Nothing but the handler reads the body. */
	@Idempotent(mode = IdempotencyMode.REJECT)
	@PostMapping("/late-body")
	Mono<String> lateBody(@RequestHeader("X-Gate") String gate, @RequestBody(required = false) Mono<String> body) {
		return gate(gate).then(body.defaultIfEmpty("nothing"))
			.map((text) -> text + " " + run("late-body " + gate + " " + text));
	}

	@Idempotent(mode = IdempotencyMode.REJECT)
	@PostMapping("/late-form")
	Mono<String> lateForm(@RequestHeader("X-Gate") String gate, ServerWebExchange exchange) {
		return gate(gate).then(exchange.getFormData())
			.map((form) -> form + " " + run("late-form " + gate + " " + form));
	}

	@Idempotent(lease = "1s")
	@PostMapping("/cancelled")
	Mono<String> cancelled(@RequestHeader("X-Gate") String gate) {
		return gate(gate).doOnCancel(() -> run("cancelled " + gate)).thenReturn("answer");
	}

	@Idempotent
	@PostMapping("/storm")
	Mono<String> storm(@RequestHeader("Idempotency-Key") String key) {
		return Mono.delay(Duration.ofMillis(1)).map((tick) -> "run " + run("storm " + key));
	}

	@Idempotent
	@PostMapping(path = "/ticks", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<Long> ticks() {
		return Flux.defer(() -> {
			run("ticks");
			return Flux.interval(Duration.ofMillis(5)).onBackpressureDrop();
		});
	}

	@Idempotent
	@GetMapping("/document")
	Mono<ResponseEntity<String>> document() {
		return Mono.fromSupplier(() -> ResponseEntity.ok().eTag("\"v1\"").body("run " + run("document")));
	}

	/** Runs on a thread of the application, which Spring hands the request to. */
	@Idempotent
	@PostMapping("/blocking")
	Mono<String> blocking(@RequestBody Order order) {
		return Mono.fromCallable(() -> {
			return order.item() + " on " + Thread.currentThread().getName() + " run " + run("blocking");

		});
	}

	/** Blocks the thread of its request. */
	@Idempotent
	@PostMapping("/canary")
	Mono<String> canary() {
		return Mono.fromCallable(() -> {
			LockSupport.parkNanos(1);
			return "run " + run("canary");
		});
	}

	static Mono<Void> gate(String name) {
		run("gate " + name);
		return GATES.computeIfAbsent(name, (key) -> Sinks.empty()).asMono();
	}

	@Idempotent
	@PostMapping("/large")
	Mono<String> large() {
		return Mono.fromSupplier(() -> run("large") + "x".repeat(3 << 20));
	}

	@Idempotent
	@PostMapping("/slow")
	Mono<String> slow() {
		return Mono.delay(Duration.ofMillis(1)).map((tick) -> "run " + run("slow"));
	}

	@Idempotent
	@ResponseStatus(HttpStatus.ACCEPTED)
	@PostMapping("/accepted")
	Mono<String> accepted() {
		return Mono.fromSupplier(() -> "run " + run("accepted"));
	}

}
