package io.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.Stream;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.Idempotent;
import io.idempotency.http.ProblemRenderer;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

class ProblemTextTests {

	private static final String OPERATION = "com.example.Vault.open(java.lang.String)";

	@ParameterizedTest
	@MethodSource("rejections")
	void detailIsInTheWordsOfTheClient(IdempotencyException rejection) {
		String detail = new ProblemRenderer(new StaticApplicationContext(), "").detail(rejection, "POST /orders", null);
		assertThat(detail).contains("POST /orders").doesNotContain("Vault").doesNotContain("idempotency.");
	}

	@Test
	void commitThatIsNotAnsweredIsNotCalledUndone() {
		assertThat(new ProblemRenderer(new StaticApplicationContext(), "").detail(IdempotencyStoreUnavailableException
			.mayHaveExecuted(OPERATION, Duration.ofSeconds(1), new IllegalStateException()), "POST /orders", null))
			.startsWith("The outcome of POST /orders is unknown");
	}

	static Stream<IdempotencyException> rejections() {
		Exception cause = new IllegalStateException(OPERATION);
		return Stream.of(new IdempotencyKeyMissingException(OPERATION, OPERATION),
				new IdempotencyKeyInvalidException(OPERATION, "The key header is empty"),
				new IdempotencyCallerUnknownException(OPERATION), new IdempotencyTokenUnknownException(OPERATION),
				new IdempotencyKeyReusedException(OPERATION),
				new IdempotencyInProgressException(OPERATION, Duration.ofSeconds(1)),
				new IdempotencyDuplicateException(OPERATION, 2), new IdempotencyResultUnavailableException(OPERATION),
				new IdempotencyOutcomeUnknownException(OPERATION), new IdempotencyBodyTooLargeException(OPERATION, 5),
				IdempotencyStoreUnavailableException.notExecuted(OPERATION, Duration.ofSeconds(1), cause),
				IdempotencyStoreUnavailableException.mayHaveExecuted(OPERATION, Duration.ofSeconds(1), cause));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/header", "/own-header", "/body", "/field", "/expression" })
	void rejectionNeverNamesWhatIsOurs(String path) throws Exception {
		WebApplicationContext context = WebMvcAdapterSetup.start(Vault.class);
		try {
			for (String body : new String[] { "{}", "{\"id\":[]}", "{\"id\":\"\"}", "x".repeat(3000) }) {
				MockHttpServletRequestBuilder request = MockMvcRequestBuilders.post(path)
					.contentType("/field".equals(path) ? "application/x-www-form-urlencoded" : "application/json")
					.content(body);
				String problem = send(context, request);
				assertThat(problem).contains("POST " + path)
					.doesNotContain("Vault", "idempotency.", "secretName", "()");
			}
		}
		finally {
			((ConfigurableApplicationContext) context).close();
		}
	}

	@Test
	void messageOfATooLargeBodyNamesTheProperty() throws Exception {
		WebApplicationContext context = WebMvcAdapterSetup.start(Vault.class);
		try {
			assertThat(WebMvcAdapterSetup.client(context)
				.perform(MockMvcRequestBuilders.post("/body").contentType("application/json").content("x".repeat(3000)))
				.andReturn()
				.getResolvedException()).hasMessageContaining("idempotency.http.max-request-size (2000 bytes)");
		}
		finally {
			((ConfigurableApplicationContext) context).close();
		}
	}

	@Test
	void placeOfAMissingKeyIsSaid() throws Exception {
		WebApplicationContext context = WebMvcAdapterSetup.start(Vault.class);
		try {
			assertThat(send(context, MockMvcRequestBuilders.post("/own-header")))
				.contains("in the header 'X-Request-Id'");
			assertThat(send(context, MockMvcRequestBuilders.post("/body"))).contains("at '/id' of its body");
		}
		finally {
			((ConfigurableApplicationContext) context).close();
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\0', value = { "{\"id\":1,\"id\":2} | same property twice",
			"{\"id\":1 | Malformed at character 7", "{\"id\":[]} | an array or an object" })
	void bodyWhoseKeyCannotBeReadIsToldWhy(String body, String reason) throws Exception {
		WebApplicationContext context = WebMvcAdapterSetup.start(Vault.class);
		try {
			assertThat(
					send(context, MockMvcRequestBuilders.post("/body").contentType("application/json").content(body)))
				.contains("key-invalid")
				.contains(reason);
		}
		finally {
			((ConfigurableApplicationContext) context).close();
		}
	}

	@Test
	void keyOfAnotherCharsetIsReadAsItIsMeant() throws Exception {
		WebApplicationContext context = WebMvcAdapterSetup.start(Vault.class);
		try {
			MockHttpServletRequestBuilder request = MockMvcRequestBuilders.post("/body")
				.contentType("application/json;charset=ISO-8859-1")
				.content("{\"id\":\"käse\"}".getBytes(StandardCharsets.ISO_8859_1));
			assertThat(send(context, request)).isEqualTo("open");
		}
		finally {
			((ConfigurableApplicationContext) context).close();
		}
	}

	private static String send(WebApplicationContext context, MockHttpServletRequestBuilder request) throws Exception {
		MockHttpServletResponse response = WebMvcAdapterSetup.client(context)
			.perform(request)
			.andReturn()
			.getResponse();
		return response.getContentAsString();
	}

	@ParameterizedTest
	@CsvSource({ "REQUEST, , , /own", "FORWARD, /client, , /client", "ASYNC, , /client, /client",
			"ASYNC, /client, /between, /client", "FORWARD, /between, /client, /client", "ERROR, /client, , /client" })
	void pathIsTheOneThatTheClientHasAskedFor(DispatcherType type, String forwarded, String dispatched,
			String expected) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/own");
		request.setDispatcherType(type);
		request.setAttribute(RequestDispatcher.FORWARD_REQUEST_URI, forwarded);
		request.setAttribute(AsyncContext.ASYNC_REQUEST_URI, dispatched);
		assertThat(IdempotencyProblemResolver.ClientPath.of(request)).isEqualTo(expected);
	}

	@RestController
	static class Vault {

		@Idempotent(operation = "secretName")
		@PostMapping("/header")
		String header() {
			return "open";
		}

		@Idempotent(header = "X-Request-Id", operation = "secretName2")
		@PostMapping("/own-header")
		String ownHeader() {
			return "open";
		}

		@Idempotent(body = "/id", operation = "secretName3")
		@PostMapping("/body")
		String body() {
			return "open";
		}

		@Idempotent(body = "id", operation = "secretName4")
		@PostMapping("/field")
		String field() {
			return "open";
		}

		@Idempotent(key = "header('X')")
		@PostMapping("/expression")
		String expression() {
			return "open";
		}

	}

}
