package io.idempotency.web;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.ScopeMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.http.HttpSettings;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.util.AopTestUtils;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.springframework.http.HttpStatus.UNPROCESSABLE_ENTITY;

/** How long answers of 4xx are kept, where that is an hour. */
class RetentionOnErrorTests {

	private final WebApplicationContext context = WebMvcAdapterSetup.start(Settings.class, Shop.class);

	private final MockMvc client = WebMvcAdapterSetup.client(this.context);

	private final AtomicInteger runs = AopTestUtils.<Shop>getTargetObject(this.context.getBean(Shop.class)).runs;

	private final Settings settings = this.context.getBean(Settings.class);

	@AfterEach
	void stop() {
		((ConfigurableApplicationContext) this.context).close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/returned", "/thrown", "/remembered" })
	void rejectionIsKeptSoLong(String path) throws Exception {
		assertThat(post(path).getStatus()).isEqualTo(422);
		advance(Duration.ofMinutes(59));
		assertThat(post(path).getHeader("Idempotent-Replayed")).isEqualTo("true");
		advance(Duration.ofMinutes(2));
		assertThat(post(path).getHeader("Idempotent-Replayed")).isNull();
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void rejectionWhoseAnswerIsTooLargeIsRejectedSoLong() throws Exception {
		assertThat(post("/large").getStatus()).isEqualTo(422);
		advance(Duration.ofMinutes(59));
		assertThat(post("/large").getStatus()).isEqualTo(409);
		advance(Duration.ofMinutes(2));
		assertThat(post("/large").getStatus()).isEqualTo(422);
		assertThat(this.runs).hasValue(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/paid", "/kept-by-the-handler" })
	void otherAnswersAndWhatTheHandlerAskedForAreKeptLonger(String path) throws Exception {
		post(path);
		advance(Duration.ofHours(23));
		assertThat(post(path).getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void shorterRetentionOfTheAnnotationCounts() throws Exception {
		post("/short");
		advance(Duration.ofMinutes(11));
		assertThat(post("/short").getHeader("Idempotent-Replayed")).isNull();
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void modeRejectCountsFromTheClaim() throws Exception {
		assertThat(post("/rejecting").getStatus()).isEqualTo(422);
		advance(Duration.ofHours(23));
		assertThat(post("/rejecting").getStatus()).isEqualTo(409);
		assertThat(this.runs).hasValue(1);
	}

	/** The work is done, though its answer says 406. */
	@Test
	void workOfWhichTheAnswerAloneWasRejectedIsKeptLonger() throws Exception {
		MockHttpServletRequestBuilder request = MockMvcRequestBuilders.post("/document")
			.accept(MediaType.APPLICATION_PDF)
			.header("Idempotency-Key", "k1");
		assertThat(this.client.perform(request).andReturn().getResponse().getStatus()).isEqualTo(406);
		advance(Duration.ofHours(23));
		assertThat(this.client.perform(request).andReturn().getResponse().getStatus()).isEqualTo(406);
		assertThat(this.runs).hasValue(1);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, -1 })
	void mustBePositive(int seconds) {
		assertThatIllegalArgumentException().isThrownBy(() -> Settings.of(Duration.ofSeconds(seconds)))
			.withMessageContaining("retentionOnError");
	}

	private MockHttpServletResponse post(String path) throws Exception {
		return this.client.perform(MockMvcRequestBuilders.post(path).header("Idempotency-Key", "k1"))
			.andReturn()
			.getResponse();
	}

	private void advance(Duration duration) {
		this.settings.now.updateAndGet((now) -> now.plus(duration));
	}

	@Configuration(proxyBeanMethods = false)
	static class Settings {

		private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2030-01-01T00:00:00Z"));

		@Bean
		@Primary
		HttpSettings anHourOnError() {
			return of(Duration.ofHours(1));
		}

		static HttpSettings of(Duration retentionOnError) {
			return new HttpSettings("Idempotent-Replayed", 1 << 20, 1000, HttpSettings.DEFAULTS.releaseOn(), Set.of(),
					false, ScopeMode.PRINCIPAL, false, Set.of(), Set.of(), Set.of(), "urn:idempotency:",
					retentionOnError, "/idempotency/tokens");
		}

		@Bean
		@Primary
		IdempotencyStore timedStore() {
			InstantSource time = this.now::get;
			return new MemoryIdempotencyStore(1_000_000, time.withZone(ZoneOffset.UTC));
		}

	}

	@RestController
	static class Shop {

		private final AtomicInteger runs = new AtomicInteger();

		@Idempotent
		@PostMapping("/paid")
		String paid() {
			return "paid " + this.runs.incrementAndGet();
		}

		@Idempotent
		@PostMapping("/returned")
		ResponseEntity<String> returned() {
			return ResponseEntity.unprocessableEntity().body("rejected " + this.runs.incrementAndGet());
		}

		@Idempotent
		@PostMapping("/thrown")
		String thrown() {
			throw new ResponseStatusException(UNPROCESSABLE_ENTITY, "rejected " + this.runs.incrementAndGet());
		}

		@Idempotent(onFailure = FailureMode.REMEMBER)
		@PostMapping("/remembered")
		ResponseEntity<String> remembered() {
			return returned();
		}

		@Idempotent
		@PostMapping("/large")
		ResponseEntity<String> large() {
			this.runs.incrementAndGet();
			return ResponseEntity.unprocessableEntity().body("x".repeat(2000));
		}

		@Idempotent
		@PostMapping("/kept-by-the-handler")
		ResponseEntity<String> keptByTheHandler() {
			IdempotencyContext.current().orElseThrow().retention(Duration.ofDays(2));
			return returned();
		}

		@Idempotent(retention = "10m")
		@PostMapping("/short")
		ResponseEntity<String> shortRetention() {
			return returned();
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/rejecting")
		ResponseEntity<String> rejecting() {
			return returned();
		}

		@Idempotent
		@PostMapping("/document")
		Runnable document() {
			this.runs.incrementAndGet();
			return () -> {
			};
		}

	}

}
