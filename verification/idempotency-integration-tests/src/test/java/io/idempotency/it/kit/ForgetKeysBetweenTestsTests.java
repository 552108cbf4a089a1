package io.idempotency.it.kit;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.idempotency.it.WithMockMvc;
import io.idempotency.test.ConcurrentDuplicates;
import io.idempotency.test.ForgetKeysBetweenTests;
import io.idempotency.test.GuardedResponse;
import io.idempotency.test.SpringResponses;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static io.idempotency.test.IdempotencyAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

/** The test kit in the hands of an application. */
@SpringBootTest(classes = ForgetKeysBetweenTestsTests.Application.class)
@WithMockMvc
@ForgetKeysBetweenTests
class ForgetKeysBetweenTestsTests {

	@Autowired
	private MockMvc mvc;

	@Autowired
	private IdempotencyTemplate template;

	@Autowired
	private Orders orders;

	@RepeatedTest(2)
	void keysOfOneTestAreUnknownInTheNext() {
		assertThat(this.template.operation("test").key("key-1").execute(Boolean.class, () -> true)).isTrue();
		assertThat(this.template.operation("test").key("key-1").execute(Boolean.class, () -> false)).isTrue();
	}

	@Test
	void answersAreComparedAndStormsRunOverMockMvc() throws Exception {
		int before = this.orders.placed();
		GuardedResponse first = place("key-1");
		assertThat(first).isNoReplay().hasStatus(201);
		assertThat(place("key-1")).isReplayOf(first);
		assertThat(place("")).hasProblem("key-invalid");
		List<GuardedResponse> storm = ConcurrentDuplicates.of(8).run((index) -> place("key-2")).valuesOrFail();
		assertThat(storm).filteredOn((answer) -> answer.status() == 201 && !answer.isReplay()).hasSize(1);
		assertThat(this.orders.placed() - before).isEqualTo(2);
	}

	private GuardedResponse place(String key) throws Exception {
		return SpringResponses
			.of(this.mvc.perform(post("/orders").header("Idempotency-Key", key)).andReturn().getResponse());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class Application {

		@Bean
		SecurityFilterChain security(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable()).build();
		}

	}

	@RestController
	static class Orders {

		private final AtomicInteger placed = new AtomicInteger();

		public int placed() {
			return this.placed.get();
		}

		@PostMapping("/orders")
		@Idempotent
		public ResponseEntity<String> place() {
			return ResponseEntity.status(201)
				.header("Location", "/orders/1")
				.body("order " + this.placed.incrementAndGet());
		}

	}

}
