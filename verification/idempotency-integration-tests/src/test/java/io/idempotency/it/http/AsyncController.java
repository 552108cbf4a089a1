package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;

import io.idempotency.Idempotent;
import io.idempotency.IdempotencyContext;
import jakarta.annotation.PreDestroy;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** Answers that are made on another thread, in time or not. */
@RestController
@RequestMapping("/async")
@Idempotent
class AsyncController {

	private final ExecutorService worker = Executors.newCachedThreadPool();

	private final Runs runs;

	AsyncController(Runs runs) {
		this.runs = runs;
	}

	@PreDestroy
	void stop() {
		this.worker.shutdownNow();
	}

	@PostMapping("/future-done")
	public CompletableFuture<Map<String, Integer>> futureDone() {
		return CompletableFuture.completedFuture(Map.of("run", this.runs.run("/async/future-done")));
	}

	@PostMapping("/future")
	public CompletableFuture<Map<String, Integer>> future() {
		return CompletableFuture.supplyAsync(() -> Map.of("run", this.runs.run("/async/future")), this.worker);
	}

	@PostMapping("/held/{id}")
	public CompletableFuture<String> held(@PathVariable String id) {
		this.runs.run("/async/held/" + id);
		return this.runs.held(id);
	}

	@PostMapping("/future-failed")
	public CompletableFuture<String> futureFailed() {
		int run = this.runs.run("/async/future-failed");
		return CompletableFuture.supplyAsync(() -> {
			throw new ErrorAnswers.OutOfStockException("sold out in run " + run);
		}, this.worker);
	}

	@PostMapping("/callable")
	public Callable<ResponseEntity<String>> callable() {
		return () -> {
			String key = IdempotencyContext.current().map(IdempotencyContext::key).orElse("no context");
			return ResponseEntity.status(201)
				.header("X-Key-Present", Boolean.toString(!key.equals("no context")))
				.body("run " + this.runs.run("/async/callable"));
		};
	}

	@PostMapping("/web-async-task")
	public WebAsyncTask<String> webAsyncTask() {
		return new WebAsyncTask<>(() -> "run " + this.runs.run("/async/web-async-task"));
	}

	@PostMapping("/deferred")
	public DeferredResult<String> deferred() {
		DeferredResult<String> result = new DeferredResult<>();
		int run = this.runs.run("/async/deferred");
		this.worker.execute(() -> result.setResult("run " + run));
		return result;
	}

	@PostMapping("/deferred-error")
	public DeferredResult<String> deferredError() {
		DeferredResult<String> result = new DeferredResult<>();
		int run = this.runs.run("/async/deferred-error");
		this.worker.execute(() -> result
			.setErrorResult(new ResponseStatusException(org.springframework.http.HttpStatus.GONE, "gone " + run)));
		return result;
	}

	@PostMapping("/mono")
	public Mono<Map<String, Integer>> mono() {
		return Mono.fromCallable(() -> Map.of("run", this.runs.run("/async/mono")));
	}

	@PostMapping("/streaming-body")
	public StreamingResponseBody streamingBody() {
		return (out) -> {
			out.write(("run " + this.runs.run("/async/streaming-body")).getBytes(StandardCharsets.UTF_8));
			out.flush();
			out.write(" and the rest".getBytes(StandardCharsets.UTF_8));
		};
	}

	@PostMapping("/callable-streaming-body")
	public Callable<StreamingResponseBody> callableStreamingBody() {
		return () -> streamed("/async/callable-streaming-body");
	}

	@PostMapping("/callable-streaming-entity")
	public Callable<ResponseEntity<StreamingResponseBody>> callableStreamingEntity() {
		return () -> entity("/async/callable-streaming-entity");
	}

	@PostMapping("/web-async-task-streaming-body")
	public WebAsyncTask<StreamingResponseBody> webAsyncTaskStreamingBody() {
		return new WebAsyncTask<>(() -> streamed("/async/web-async-task-streaming-body"));
	}

	@PostMapping("/deferred-streaming-entity")
	public DeferredResult<ResponseEntity<StreamingResponseBody>> deferredStreamingEntity() {
		DeferredResult<ResponseEntity<StreamingResponseBody>> result = new DeferredResult<>();
		this.worker.execute(() -> result.setResult(entity("/async/deferred-streaming-entity")));
		return result;
	}

	@PostMapping("/future-streaming-entity")
	public CompletableFuture<ResponseEntity<StreamingResponseBody>> futureStreamingEntity() {
		return CompletableFuture.supplyAsync(() -> entity("/async/future-streaming-entity"), this.worker);
	}

	private ResponseEntity<StreamingResponseBody> entity(String scenario) {
		return ResponseEntity.status(201).header("X-App", "shop").body(streamed(scenario));
	}

	/** Its writer knows the call, whatever thread it is. */
	private StreamingResponseBody streamed(String scenario) {
		int run = this.runs.run(scenario);
		return (out) -> {
			out.write(("run " + run).getBytes(StandardCharsets.UTF_8));
			out.flush();
			boolean guarded = IdempotencyContext.current().isPresent();
			out.write((guarded ? " and the rest" : " without a context").getBytes(StandardCharsets.UTF_8));
		};
	}

	@PostMapping("/callable-streaming-fails")
	public Callable<StreamingResponseBody> callableStreamingFails() {
		int run = this.runs.run("/async/callable-streaming-fails");
		return () -> (out) -> {
			throw new IllegalStateException("broken in run " + run);
		};
	}

	@PostMapping(path = "/callable-sse", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	public Callable<SseEmitter> callableSse() {
		return () -> events("first", CompletableFuture.completedFuture("last"));
	}

	@PostMapping(path = "/sse/{id}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	public SseEmitter sse(@PathVariable String id) {
		this.runs.run("/async/sse/" + id);
		return events("first", this.runs.held(id));
	}

	private SseEmitter events(String first, CompletableFuture<String> last) {
		SseEmitter emitter = new SseEmitter();
		this.worker.execute(() -> {
			try {
				emitter.send(first);
				emitter.send(last.get());
				emitter.complete();
			}
			catch (Exception ex) {
				emitter.completeWithError(ex);
			}
		});
		return emitter;
	}

	@PostMapping(path = "/flux", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	public Flux<String> flux() {
		int run = this.runs.run("/async/flux");
		return Flux.just("a" + run, "b" + run);
	}

	@PostMapping("/future-too-late/{id}")
	public WebAsyncTask<String> futureTooLate(@PathVariable String id) {
		return new WebAsyncTask<>(200, () -> {
			this.runs.run("/async/future-too-late/" + id);
			// Not to be interrupted, as most real work.
			return this.runs.held(id).join();
		});
	}

	@PostMapping("/given-up/future")
	public CompletableFuture<String> givenUpFuture() {
		this.runs.run("/async/given-up/future");
		return CompletableFuture.failedFuture(new TimeoutException());
	}

	@PostMapping("/given-up/mono")
	public Mono<String> givenUpMono() {
		this.runs.run("/async/given-up/mono");
		return Mono.<String>never().timeout(Duration.ofMillis(1));
	}

	@PostMapping("/given-up/deferred")
	public DeferredResult<String> givenUpDeferred() {
		this.runs.run("/async/given-up/deferred");
		DeferredResult<String> result = new DeferredResult<>();
		this.worker.execute(() -> result.setErrorResult(new TimeoutException()));
		return result;
	}

	@Idempotent(lease = "3s")
	@PostMapping("/timed-out/deferred/{id}")
	public DeferredResult<String> timedOutDeferred(@PathVariable String id) {
		this.runs.run("/async/timed-out/deferred/" + id);
		return new DeferredResult<>();
	}

	@Idempotent(lease = "3s")
	@PostMapping("/timed-out/mono/{id}")
	public Mono<String> timedOutMono(@PathVariable String id) {
		this.runs.run("/async/timed-out/mono/" + id);
		return Mono.never();
	}

	@Idempotent(lease = "3s")
	@PostMapping("/timed-out/interrupted/{id}")
	public Callable<String> interrupted(@PathVariable String id) {
		return () -> {
			this.runs.run("/async/timed-out/interrupted/" + id);
			new CountDownLatch(1).await();
			return "never";
		};
	}

	@Idempotent(lease = "3s")
	@PostMapping("/timed-out/future/{id}")
	public CompletableFuture<String> timedOutFuture(@PathVariable String id) {
		this.runs.run("/async/timed-out/future/" + id);
		return this.runs.held(id);
	}

	@PostMapping("/deferred-too-late")
	public DeferredResult<String> deferredTooLate() {
		this.runs.run("/async/deferred-too-late");
		return new DeferredResult<>(200L);
	}

}
