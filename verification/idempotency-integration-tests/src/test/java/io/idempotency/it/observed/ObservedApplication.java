package io.idempotency.it.observed;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** An operation for each way in which a guarded call can end, through each door. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({ ObservedApplication.Handlers.class, ObservedApplication.Payments.class, ObservedApplication.Meanwhile.class })
class ObservedApplication {

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
	}

	@RestController
	static class Handlers {

		private final Meanwhile meanwhile;

		private final Payments payments;

		private final IdempotencyTemplate template;

		private final ObservationRegistry observations;

		Handlers(Meanwhile meanwhile, Payments payments, IdempotencyTemplate template,
				ObservationRegistry observations) {
			this.meanwhile = meanwhile;
			this.payments = payments;
			this.template = template;
			this.observations = observations;
		}

		@PostMapping("/plain")
		@Idempotent(operation = "plain")
		String plain(@RequestBody String body) {
			this.meanwhile.happen();
			return current() + body;
		}

		private String current() {
			Observation current = this.observations.getCurrentObservation();
			return (current != null) ? current.getContextView().getName() + " " : "nothing ";
		}

		@PostMapping("/once")
		@Idempotent(operation = "once", mode = IdempotencyMode.REJECT)
		String once() {
			return "done";
		}

		@PostMapping("/fails")
		@Idempotent(operation = "fails")
		String fails() {
			throw new ResponseStatusException(HttpStatus.BAD_GATEWAY);
		}

		@PostMapping("/rejects")
		@Idempotent(operation = "rejects")
		String rejects() {
			throw new ResponseStatusException(HttpStatus.CONFLICT);
		}

		@PostMapping("/unkept")
		@Idempotent(operation = "unkept", keepResult = false)
		String unkept() {
			return "done";
		}

		@PostMapping("/found")
		@Idempotent(operation = "found", keepResult = false, recover = "find")
		String found() {
			return "done";
		}

		String find() {
			return "done";
		}

		@PostMapping("/released")
		@Idempotent(operation = "released")
		String released() {
			IdempotencyContext.current().orElseThrow().releaseKey();
			return "done";
		}

		@PostMapping("/future")
		@Idempotent(operation = "future")
		CompletableFuture<String> future() {
			return CompletableFuture.supplyAsync(() -> {
				this.meanwhile.happen();
				return "done";
			});
		}

		@PostMapping("/task")
		@Idempotent(operation = "task")
		Callable<String> task() {
			return this::current;
		}

		@PostMapping("/method")
		String method(@RequestParam String id) {
			return this.payments.pay(id);
		}

		@PostMapping("/template")
		String template(@RequestParam String id) {
			String result = this.template.operation("template").key(id).execute(String.class, () -> "paid " + id);
			return String.valueOf(result);
		}

	}

	/** What happens while a handler runs, once. */
	@Component
	static class Meanwhile {

		private final AtomicReference<Runnable> next = new AtomicReference<>();

		void set(Runnable next) {
			this.next.set(next);
		}

		private void happen() {
			Runnable due = this.next.getAndSet(null);
			if (due != null) {
				due.run();
			}
		}

	}

	@Component
	static class Payments {

		@Idempotent(key = "#p0", operation = "method")
		public String pay(String id) {
			return "paid " + id;
		}

	}

}
