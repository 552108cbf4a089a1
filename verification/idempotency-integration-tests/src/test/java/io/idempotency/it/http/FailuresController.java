package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.ModelAndView;

/** Calls that fail: released by default, remembered on request. */
@RestController
@RequestMapping("/failures")
class FailuresController {

	private final Runs runs;

	FailuresController(Runs runs) {
		this.runs = runs;
	}

	@PostMapping("/status/{status}")
	@Idempotent
	public ResponseEntity<String> status(@PathVariable int status) {
		return ResponseEntity.status(status).body("run " + this.runs.run("/failures/status/" + status));
	}

	@PostMapping("/exception")
	@Idempotent
	public String exception() {
		throw new IllegalStateException("broken in run " + this.runs.run("/failures/exception"));
	}

	/** Another server has hung up, which Spring takes for the client. */
	@PostMapping("/lost-connection")
	@Idempotent
	public String lostConnection() {
		this.runs.run("/failures/lost-connection");
		throw lost();
	}

	@PostMapping("/lost-connection-later")
	@Idempotent
	public CompletableFuture<String> lostConnectionLater() {
		this.runs.run("/failures/lost-connection-later");
		return CompletableFuture.supplyAsync(() -> {
			throw lost();
		});
	}

	private static RuntimeException lost() {
		return new IllegalStateException("The bank cannot be reached", new IOException("Connection reset by peer"));
	}

	/** Done, but its answer cannot be written. */
	@PostMapping("/unwritable")
	@Idempotent
	public Unwritable unwritable() {
		this.runs.run("/failures/unwritable");
		return new Unwritable();
	}

	@PostMapping("/unwritable-later")
	@Idempotent
	public CompletableFuture<Unwritable> unwritableLater() {
		this.runs.run("/failures/unwritable-later");
		return CompletableFuture.supplyAsync(Unwritable::new);
	}

	@PostMapping("/unwritable-view")
	@Idempotent
	public ModelAndView unwritableView() {
		this.runs.run("/failures/unwritable-view");
		return new ModelAndView((model, request, response) -> {
			throw new IllegalStateException("no view");
		});
	}

	@PostMapping("/future-503")
	@Idempotent
	public CompletableFuture<String> failedFuture() {
		int run = this.runs.run("/failures/future-503");
		return CompletableFuture.supplyAsync(() -> {
			throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "busy in run " + run);
		});
	}

	public static final class Unwritable {

		public String getTotal() {
			throw new IllegalStateException("cannot be read outside its session");
		}

	}

	@PostMapping("/send-error-503")
	@Idempotent
	public void sendError(HttpServletResponse response) throws IOException {
		response.sendError(503, "busy in run " + this.runs.run("/failures/send-error-503"));
	}

	@PostMapping("/remembered-exception")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public String rememberedException() {
		throw new IllegalStateException("broken in run " + this.runs.run("/failures/remembered-exception"));
	}

	@PostMapping("/remembered-status")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public ResponseEntity<String> rememberedStatus() {
		return ResponseEntity.status(503).body("run " + this.runs.run("/failures/remembered-status"));
	}

	@PostMapping("/remembered-response-status")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public String rememberedResponseStatus() {
		throw new ResponseStatusException(HttpStatus.BAD_GATEWAY,
				"run " + this.runs.run("/failures/remembered-response-status"));
	}

	/** The call of a guarded bean is rejected, for now. */
	@PostMapping("/remembered-rejection")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public String rememberedRejection() {
		this.runs.run("/failures/remembered-rejection");
		throw busy();
	}

	@PostMapping("/remembered-rejection-later")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public CompletableFuture<String> rememberedRejectionLater() {
		this.runs.run("/failures/remembered-rejection-later");
		return CompletableFuture.supplyAsync(() -> {
			throw busy();
		});
	}

	@PostMapping("/remembered-rejection-deferred")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public DeferredResult<String> rememberedRejectionDeferred() {
		this.runs.run("/failures/remembered-rejection-deferred");
		DeferredResult<String> answer = new DeferredResult<>();
		CompletableFuture.runAsync(() -> answer.setErrorResult(busy()));
		return answer;
	}

	private static IdempotencyInProgressException busy() {
		return new IdempotencyInProgressException("payments.pay", Duration.ofSeconds(2));
	}

}
