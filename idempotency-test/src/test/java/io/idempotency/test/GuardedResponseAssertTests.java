package io.idempotency.test;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static io.idempotency.test.IdempotencyAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class GuardedResponseAssertTests {

	private static final GuardedResponse FIRST = answer(201, "one",
			Map.of("Location", List.of("/orders/1"), "Set-Cookie", List.of("a=b"), "Date", List.of("now")));

	private static GuardedResponse answer(int status, String body, Map<String, List<String>> headers) {
		return new GuardedResponse(status, headers, body.getBytes(StandardCharsets.UTF_8));
	}

	private static GuardedResponse replay(int status, String body, String location) {
		return answer(status, body, Map.of("location", List.of(location), "idempotent-replayed", List.of("true"),
				"Date", List.of("later")));
	}

	@Test
	void aReplayIsToldByItsHeaderInAnyCase() {
		assertThat(FIRST).isNoReplay().hasStatus(201);
		assertThat(replay(201, "one", "/orders/1")).isReplayOf(FIRST);
	}

	@Test
	void whatDiffersIsNoReplay() {
		for (GuardedResponse other : List.of(FIRST, replay(200, "one", "/orders/1"), replay(201, "two", "/orders/1"),
				replay(201, "one", "/orders/2"))) {
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThat(other).isReplayOf(FIRST));
		}
	}

	@Test
	void aReplayIsNoAnswerOfTheHandler() {
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(replay(201, "one", "/orders/1")).isNoReplay())
			.withMessageContaining("not a replay");
	}

	@Test
	void aProblemIsFoundByItsCode() {
		GuardedResponse problem = answer(409, "{\"type\":\"urn:idempotency:in-progress\",\"code\":\"in-progress\"}",
				Map.of());
		assertThat(problem).hasProblem("in-progress");
		for (GuardedResponse other : List.of(FIRST, answer(409, "{\"code\":\"duplicate\"}", Map.of()),
				answer(200, "{\"code\":\"in-progress\"}", Map.of()))) {
			assertThatExceptionOfType(AssertionError.class)
				.isThrownBy(() -> assertThat(other).hasProblem("in-progress"))
				.withMessageContaining("'in-progress'");
		}
	}

	@Test
	void messagesShowNoBody() {
		assertThat(answer(200, "secret", Map.of()).toString()).doesNotContain("secret").contains("6 bytes");
	}

	@Test
	void answersOfSpringAreAnswers() {
		MockHttpServletResponse mock = new MockHttpServletResponse();
		mock.setStatus(201);
		mock.addHeader("Location", "/orders/1");
		assertThat(SpringResponses.of(mock)).isEqualTo(answer(201, "", Map.of("Location", List.of("/orders/1"))));
		assertThat(SpringResponses.of(ResponseEntity.status(201)
			.header("Location", "/orders/1")
			.body("one".getBytes(StandardCharsets.UTF_8)))).hasStatus(201).isNoReplay();
		assertThat(SpringResponses.of(new ResponseEntity<byte[]>(HttpStatus.NO_CONTENT)).body()).isEmpty();
	}

	@Test
	void resultsOfMockMvcAreAnswers() throws Exception {
		MockMvc mvc = MockMvcBuilders.standaloneSetup(new Orders()).build();
		GuardedResponse expected = answer(201, "", Map.of("Location", List.of("/orders/1")));
		assertThat(SpringResponses.of(mvc.perform(MockMvcRequestBuilders.post("/orders")).andReturn()))
			.isEqualTo(expected);
		assertThat(SpringResponses.of(MockMvcTester.create(mvc).post().uri("/orders").exchange())).isEqualTo(expected);
	}

	@Test
	void resultWithoutAnAnswerSaysWhy() throws Exception {
		MockMvc mvc = MockMvcBuilders.standaloneSetup(new Orders()).build();
		MvcResult later = mvc.perform(MockMvcRequestBuilders.post("/later")).andReturn();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> SpringResponses.of(later))
			.withMessageContaining("asyncDispatch");
		MvcTestResult broken = MockMvcTester.create(mvc).post().uri("/broken").exchange();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> SpringResponses.of(broken))
			.withStackTraceContaining("out of order");
	}

	@RestController
	static class Orders {

		@PostMapping("/orders")
		ResponseEntity<Void> place() {
			return ResponseEntity.created(URI.create("/orders/1")).build();
		}

		@PostMapping("/later")
		CompletableFuture<String> later() {
			return new CompletableFuture<>();
		}

		@PostMapping("/broken")
		String broken() {
			throw new IllegalStateException("out of order");
		}

	}

}
