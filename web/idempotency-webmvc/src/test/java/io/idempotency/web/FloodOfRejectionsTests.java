package io.idempotency.web;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.FailureMode;
import io.idempotency.Idempotent;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import jakarta.servlet.http.HttpServletResponse;
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
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.http.HttpStatus.UNPROCESSABLE_ENTITY;

/** One caller's cheap rejections do not use up a memory store for everybody. */
class FloodOfRejectionsTests {

	private static final int FLOOD = 200;

	private final WebApplicationContext context = WebMvcAdapterSetup.start(SmallStore.class, Shop.class);

	private final MockMvc client = WebMvcAdapterSetup.client(this.context);

	private final Shop shop = AopTestUtils.getTargetObject(this.context.getBean(Shop.class));

	@AfterEach
	void stop() {
		((ConfigurableApplicationContext) this.context).close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/returned", "/thrown", "/sent", "/large" })
	void takesNobodysResultAndNobodysRoom(String path) throws Exception {
		String paid = post("/pay", "paid").getContentAsString();
		for (int i = 0; i < FLOOD; i++) {
			assertThat(post(path, "rejected-" + i).getStatus()).as("rejection %d", i).isEqualTo(422);
		}
		MockHttpServletResponse replay = post("/pay", "paid");
		assertThat(replay.getStatus()).isEqualTo(200);
		assertThat(replay.getContentAsString()).isEqualTo(paid);
		assertThat(replay.getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(post("/pay", "new").getStatus()).isEqualTo(200);
	}

	@Test
	void forgetsTheFirstRejectionsAndKeepsTheLastOnes() throws Exception {
		for (int i = 0; i < FLOOD; i++) {
			post("/returned", "rejected-" + i);
		}
		assertThat(post("/returned", "rejected-" + (FLOOD - 1)).getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(post("/returned", "rejected-0").getHeader("Idempotent-Replayed")).isNull();
		assertThat(this.shop.runs).hasValue(FLOOD + 1);
	}

	@Test
	void forgetsNoFailureThatIsToBeRemembered() throws Exception {
		post("/remembered", "first");
		int status = 0;
		for (int i = 0; i < FLOOD && status != 503; i++) {
			status = post("/remembered", "more-" + i).getStatus();
		}
		assertThat(status).isEqualTo(503);
		assertThat(post("/remembered", "first").getStatus()).isEqualTo(409);
	}

	/** The work is done, though its answer says 406. */
	@Test
	void forgetsNoWorkOfWhichTheAnswerAloneWasRejected() throws Exception {
		assertThat(unacceptable("first").getStatus()).isEqualTo(406);
		int runs = this.shop.runs.get();
		for (int i = 0; i < FLOOD; i++) {
			post("/returned", "rejected-" + i);
		}
		int status = 0;
		for (int i = 0; i < FLOOD && status != 503; i++) {
			status = post("/pay", "more-" + i).getStatus();
		}
		assertThat(status).isEqualTo(503);
		this.shop.runs.set(runs);
		assertThat(unacceptable("first").getStatus()).isEqualTo(409);
		assertThat(this.shop.runs).hasValue(runs);
	}

	private MockHttpServletResponse unacceptable(String key) throws Exception {
		return this.client
			.perform(MockMvcRequestBuilders.post("/document")
				.accept(MediaType.APPLICATION_PDF)
				.header("Idempotency-Key", key))
			.andReturn()
			.getResponse();
	}

	private MockHttpServletResponse post(String path, String key) throws Exception {
		return this.client.perform(MockMvcRequestBuilders.post(path).header("Idempotency-Key", key))
			.andReturn()
			.getResponse();
	}

	@Configuration(proxyBeanMethods = false)
	static class SmallStore {

		@Bean
		@Primary
		IdempotencyStore smallStore() {
			return new MemoryIdempotencyStore(10_000);
		}

	}

	@RestController
	static class Shop {

		private final AtomicInteger runs = new AtomicInteger();

		@Idempotent
		@PostMapping("/pay")
		String pay() {
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
			throw new ResponseStatusException(UNPROCESSABLE_ENTITY, "rejected");
		}

		@Idempotent
		@PostMapping("/sent")
		void sent(HttpServletResponse response) throws java.io.IOException {
			response.sendError(422, "rejected");
		}

		@Idempotent
		@PostMapping("/large")
		ResponseEntity<String> large() {
			return ResponseEntity.unprocessableEntity().body("x".repeat(2000));
		}

		@Idempotent(onFailure = FailureMode.REMEMBER)
		@PostMapping("/remembered")
		ResponseEntity<String> remembered() {
			return ResponseEntity.unprocessableEntity().body("rejected");
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
