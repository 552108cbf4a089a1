package io.idempotency.web;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.mock.web.MockMultipartFile;
import org.springframework.test.util.AopTestUtils;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.RequestBuilder;
import org.springframework.test.web.servlet.request.AbstractMockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.springframework.http.HttpStatus.CONFLICT;
import static org.springframework.http.HttpStatus.TOO_MANY_REQUESTS;

class WebMvcAdapterTests {

	private WebApplicationContext context;

	private MockMvc client;

	private Orders orders;

	private FaultyStore store;

	@BeforeEach
	void start() {
		this.context = WebMvcAdapterSetup.start(Orders.class, Catalog.class);
		this.client = WebMvcAdapterSetup.client(this.context);
		this.orders = AopTestUtils.getTargetObject(this.context.getBean(Orders.class));
		this.store = this.context.getBean(FaultyStore.class);
	}

	@AfterEach
	void stop() {
		// Else the close would wait for it.
		this.store.down = false;
		((ConfigurableApplicationContext) this.context).close();
	}

	@Test
	void duplicateGetsTheFirstAnswer() throws Exception {
		MockHttpServletResponse first = send(json("/orders", "{\"id\":1}").header("Idempotency-Key", "k1"));
		MockHttpServletResponse second = send(json("/orders", "{ \"id\" : 1 }").header("Idempotency-Key", "\"k1\""));
		assertThat(first.getStatus()).isEqualTo(201);
		assertThat(first.getHeader("Idempotent-Replayed")).isNull();
		assertThat(first.getHeader("Cache-Control")).isNull();
		assertThat(second.getStatus()).isEqualTo(201);
		assertThat(second.getContentAsByteArray()).isEqualTo(first.getContentAsByteArray()).isNotEmpty();
		assertThat(second.getContentType()).isEqualTo(first.getContentType());
		assertThat(second.getContentLength()).isEqualTo(first.getContentLength()).isPositive();
		assertThat(second.getHeader("Location")).isEqualTo("/orders/1");
		assertThat(second.getHeaders("X-App")).containsExactly("a", "b");
		assertThat(second.getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(second.getHeader("Cache-Control")).isEqualTo("no-store");
		assertThat(this.orders.runs).hasValue(1);
	}

	/** Spring's own arguments and converters read headers so. */
	@Test
	void keyThatAFilterGivesAsOneOfSeveralValuesOnlyIsSeen() throws Exception {
		for (int i = 0; i < 2; i++) {
			send((application) -> {
				MockHttpServletRequest request = new MockHttpServletRequest(application, "POST", "/orders") {
					@Override
					public @Nullable String getHeader(String name) {
						return name.equals("Idempotency-Key") ? null : super.getHeader(name);
					}
				};
				request.addHeader("Idempotency-Key", "k1");
				request.setContentType("application/json");
				request.setContent("{}".getBytes(StandardCharsets.UTF_8));
				return request;
			});
		}
		assertThat(this.orders.runs).hasValue(1);
	}

	@Test
	void freshCallTakesTwoStepsOfTheStoreAndAReplayOne() throws Exception {
		send(json("/orders", "{}").header("Idempotency-Key", "k1"));
		assertThat(this.store.verbs).containsExactly("claim", "complete RESULT");
		send(json("/orders", "{}").header("Idempotency-Key", "k1"));
		assertThat(this.store.verbs).containsExactly("claim", "complete RESULT", "claim");
	}

	@Test
	void cookiesAndSecretsAndExcludedHeadersAreNeverReplayed() throws Exception {
		MockHttpServletResponse first = post("/orders/secrets", "k1");
		MockHttpServletResponse second = post("/orders/secrets", "k1");
		assertThat(first.getHeaderNames()).contains("Set-Cookie", "Authorization", "WWW-Authenticate", "Date",
				"Connection", "X-Excluded", "X-Kept");
		assertThat(second.getHeaderNames())
			.doesNotContain("Set-Cookie", "Authorization", "WWW-Authenticate", "Date", "Connection", "X-Excluded")
			.contains("X-Kept");
		assertThat(second.getCookies()).isEmpty();
	}

	@Test
	void cacheControlOfTheHandlerIsReplayed() throws Exception {
		post("/orders/cached", "k1");
		assertThat(post("/orders/cached", "k1").getHeaders("Cache-Control")).containsExactly("max-age=60");
	}

	@Test
	void missingKeyIsRejectedBeforeAnythingRuns() throws Exception {
		MockHttpServletResponse response = send(json("/orders", "{}"));
		assertProblem(response, 400, "key-missing", "Idempotency-Key is missing");
		assertThat(response.getContentAsString()).contains("\"instance\":\"/orders\"").contains("'Idempotency-Key'");
		assertThat(this.orders.runs).hasValue(0);
		assertThat(this.store.verbs).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a,b", "a b", "\"a", "k1234567890123456789012345" })
	void malformedKeyIsRejectedEvenWhereNoneIsRequired(String key) throws Exception {
		assertProblem(post("/orders/optional", key), 400, "key-invalid", "Idempotency-Key is invalid");
		assertProblem(post("/orders/plain", key), 400, "key-invalid", "Idempotency-Key is invalid");
		assertThat(this.orders.runs).hasValue(0);
		assertThat(this.store.verbs).isEmpty();
	}

	@Test
	void twoKeysAreRejected() throws Exception {
		RequestBuilder request = MockMvcRequestBuilders.post("/orders/plain").header("Idempotency-Key", "a", "a");
		assertProblem(send(request), 400, "key-invalid", "Idempotency-Key is invalid");
	}

	@Test
	void callWithoutAKeyRunsUnguardedWhereNoneIsRequired() throws Exception {
		assertThat(send(MockMvcRequestBuilders.post("/orders/optional")).getContentAsString()).isEqualTo("1 unguarded");
		assertThat(send(MockMvcRequestBuilders.post("/orders/optional")).getContentAsString()).isEqualTo("2 unguarded");
		assertThat(post("/orders/optional", "k1").getContentAsString()).isEqualTo("3 guarded");
		assertThat(post("/orders/optional", "k1").getContentAsString()).isEqualTo("3 guarded");
	}

	@Test
	void conditionDecidesWhetherTheCallIsGuarded() throws Exception {
		assertThat(post("/orders/conditional?guard=false", "k1").getContentAsString()).isEqualTo("1");
		assertThat(post("/orders/conditional?guard=false", "k1").getContentAsString()).isEqualTo("2");
		assertThat(post("/orders/conditional?guard=true", "k1").getContentAsString()).isEqualTo("3");
		assertThat(post("/orders/conditional?guard=true", "k1").getContentAsString()).isEqualTo("3");
	}

	@Test
	void otherRequestWithTheSameKeyIsRejected() throws Exception {
		send(json("/orders", "{\"id\":1}").header("Idempotency-Key", "k1"));
		assertProblem(send(json("/orders", "{\"id\":2}").header("Idempotency-Key", "k1")), 422, "key-reused",
				"Idempotency-Key is already used");
		assertProblem(send(json("/orders?x=1", "{\"id\":1}").header("Idempotency-Key", "k1")), 422, "key-reused",
				"Idempotency-Key is already used");
		assertThat(this.orders.runs).hasValue(1);
	}

	@Test
	void pathVariablesArePartOfTheFingerprint() throws Exception {
		assertThat(post("/orders/7/pay", "k1").getContentAsString()).isEqualTo("paid 7");
		assertThat(post("/orders/8/pay", "k1").getStatus()).isEqualTo(422);
		assertThat(post("/orders/7/pay", "k1").getContentAsString()).isEqualTo("paid 7");
	}

	@Test
	void orderOfQueryParametersDoesNotCount() throws Exception {
		post("/orders/plain?a=1&b=2&b=3", "k1");
		assertThat(post("/orders/plain?b=2&a=%31&b=3", "k1").getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(post("/orders/plain?b=3&b=2&a=1", "k1").getStatus()).isEqualTo(422);
	}

	@Test
	void twoOperationsNeverShareAKey() throws Exception {
		assertThat(post("/orders/plain", "k1").getContentAsString()).isEqualTo("1");
		assertThat(post("/orders/7/pay", "k1").getContentAsString()).isEqualTo("paid 7");
	}

	@Test
	void twoCallersNeverShareAKey() throws Exception {
		for (String caller : new String[] { null, "ann", "bob" }) {
			MockHttpServletRequestBuilder request = MockMvcRequestBuilders.post("/orders/plain")
				.header("Idempotency-Key", "k1");
			if (caller != null) {
				request.principal(() -> caller);
			}
			assertThat(send(request).getHeader("Idempotent-Replayed")).isNull();
			assertThat(send(request).getHeader("Idempotent-Replayed")).isEqualTo("true");
		}
		assertThat(this.orders.runs).hasValue(3);
	}

	@Test
	void nothingRunsForACallerWhoCannotBeKnownAgain() {
		RequestBuilder request = MockMvcRequestBuilders.post("/orders/plain")
			.header("Idempotency-Key", "k1")
			.principal(() -> " ");
		assertThatExceptionOfType(ServletException.class).isThrownBy(() -> send(request))
			.havingRootCause()
			.withMessageContaining("Give it a stable name, or declare a bean of type IdempotencyScopeResolver");
		assertThat(this.orders.runs).hasValue(0);
		assertThat(this.store.verbs).isEmpty();
	}

	@Test
	void scopeOfTheAnnotationIsEnoughToKnowTheCallerBy() throws Exception {
		RequestBuilder request = MockMvcRequestBuilders.post("/orders/scoped")
			.header("Idempotency-Key", "k1")
			.header("X-Tenant", "a")
			.principal(() -> " ");
		assertThat(send(request).getContentAsString()).isEqualTo("1");
		assertThat(send(request).getContentAsString()).isEqualTo("1");
	}

	@Test
	void bodyThatIsTooLargeIsRejectedBeforeItIsParsed() throws Exception {
		String large = "x".repeat(2001);
		assertProblem(send(json("/orders", large).header("Idempotency-Key", "k1")), 413, "body-too-large",
				"Request body is too large");
		assertThat(this.orders.runs).hasValue(0);
		assertThat(this.store.verbs).isEmpty();
		assertThat(send(json("/orders", "\"" + "x".repeat(1998) + "\"").header("Idempotency-Key", "k1")).getStatus())
			.isEqualTo(201);
	}

	@Test
	void bodyThatNobodyComparesMayHaveAnySize() throws Exception {
		String large = "\"" + "x".repeat(5000) + "\"";
		for (String handler : new String[] { "uncompared", "uncounted" }) {
			String key = handler + "-1";
			assertThat(send(json("/orders/" + handler, large).header("Idempotency-Key", key)).getContentAsString())
				.isEqualTo("5002");
			MockHttpServletResponse again = send(json("/orders/" + handler, "\"y\"").header("Idempotency-Key", key));
			assertThat(again.getStatus()).as(handler).isEqualTo(handler.equals("uncounted") ? 409 : 200);
		}
	}

	@Test
	void bodyOfAnUnguardedCallMayHaveAnySize() throws Exception {
		String large = "\"" + "x".repeat(5000) + "\"";
		assertThat(send(json("/orders/body-optional", large)).getStatus()).isEqualTo(200);
		assertThat(send(json("/orders/body-optional", large).header("Idempotency-Key", "k1")).getStatus())
			.isEqualTo(413);
		assertThat(send(json("/catalog/echo", large)).getContentAsString()).isEqualTo(large);
	}

	@Test
	void handlerThatReadsTheRequestItselfGetsEveryByteAndTheBodyCounts() throws Exception {
		assertThat(send(json("/orders/raw", "{\"a\":1}").header("Idempotency-Key", "k1")).getContentAsString())
			.isEqualTo("{\"a\":1}");
		assertThat(send(json("/orders/raw", "{\"a\": 1}").header("Idempotency-Key", "k1"))
			.getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(send(json("/orders/raw", "{\"a\":2}").header("Idempotency-Key", "k1")).getStatus()).isEqualTo(422);
	}

	@Test
	void bodyThatNobodyReadsCountsToo() throws Exception {
		send(json("/orders/plain", "{\"a\":1}").header("Idempotency-Key", "k1"));
		assertThat(send(json("/orders/plain", "{\"a\":2}").header("Idempotency-Key", "k1")).getStatus()).isEqualTo(422);
	}

	@Test
	void formsAreComparedByTheirFields() throws Exception {
		assertThat(send(form("/orders/form", "a=1&b=%20x&b=y").header("Idempotency-Key", "k1")).getContentAsString())
			.isEqualTo("1 [ x, y]");
		assertThat(send(form("/orders/form", "b=+x&b=y&a=1").header("Idempotency-Key", "k1"))
			.getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(send(form("/orders/form", "b=y&b=+x&a=1").header("Idempotency-Key", "k1")).getStatus())
			.isEqualTo(422);
	}

	@Test
	void partsAreComparedByNameAndFileNameAndTypeAndBytes() throws Exception {
		assertThat(upload("k1", "a.txt", "text/plain", "x").getContentAsString()).isEqualTo("a.txt:x");
		assertThat(upload("k1", "a.txt", "text/plain", "x").getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(upload("k1", "b.txt", "text/plain", "x").getStatus()).isEqualTo(422);
		assertThat(upload("k1", "a.txt", "text/html", "x").getStatus()).isEqualTo(422);
		assertThat(upload("k1", "a.txt", "text/plain", "y").getStatus()).isEqualTo(422);
		assertThat(upload("k2", "a.txt", "text/plain", "x".repeat(2001)).getStatus()).isEqualTo(413);
	}

	@Test
	void keyMayComeFromTheBody() throws Exception {
		String body = "{\"order\":{\"id\":%s}}";
		assertThat(send(json("/orders/keyed", body.formatted("\"a b\""))).getContentAsString()).isEqualTo("1");
		assertThat(send(json("/orders/keyed", body.formatted("\"a b\""))).getContentAsString()).isEqualTo("1");
		assertThat(send(json("/orders/keyed", body.formatted("1.50"))).getContentAsString()).isEqualTo("2");
		assertThat(send(json("/orders/keyed", body.formatted("\"1.50\""))).getStatus()).isEqualTo(422);
		assertThat(send(json("/orders/keyed", body.formatted("true"))).getContentAsString()).isEqualTo("3");
		assertProblem(send(json("/orders/keyed", body.formatted("null"))), 400, "key-missing",
				"Idempotency-Key is missing");
		assertProblem(send(json("/orders/keyed", "{}")), 400, "key-missing", "Idempotency-Key is missing");
		for (String bad : List.of("\"\"", "[]", "{}", "\"" + "x".repeat(21) + "\"")) {
			assertProblem(send(json("/orders/keyed", body.formatted(bad))), 400, "key-invalid",
					"Idempotency-Key is invalid");
		}
		assertThat(this.orders.runs).hasValue(3);
	}

	@Test
	void keyMayComeFromAFormField() throws Exception {
		assertThat(send(form("/orders/field", "token=t 1&x=1")).getContentAsString()).isEqualTo("1");
		assertThat(send(form("/orders/field", "token=t+1&x=1")).getContentAsString()).isEqualTo("1");
		assertThat(send(form("/orders/field", "x=1")).getStatus()).isEqualTo(400);
		assertProblem(send(form("/orders/field", "token=")), 400, "key-invalid", "Idempotency-Key is invalid");
	}

	@Test
	void formThatTheHandlerReadsAsAStreamIsStillThere() throws Exception {
		MockHttpServletResponse response = send(
				json("/orders/raw-form?a=0", "a=1&b=2").contentType(MediaType.APPLICATION_FORM_URLENCODED)
					.header("Idempotency-Key", "k1"));
		assertThat(response.getContentAsString()).isEqualTo("a=1&b=2|[0, 1]|2");
	}

	@Test
	void errorsOfTheHandlerAreResults() throws Exception {
		Map<String, Integer> statuses = Map.of("/orders/not-found", 409, "/orders/handled", 409, "/orders/send-error",
				410, "/orders/status", 404);
		for (String path : statuses.keySet()) {
			MockHttpServletResponse first = post(path, "k1");
			MockHttpServletResponse second = post(path, "k1");
			assertThat(first.getStatus()).as(path).isEqualTo(statuses.get(path));
			assertThat(second.getStatus()).as(path).isEqualTo(first.getStatus());
			assertThat(second.getErrorMessage()).as(path).isEqualTo(first.getErrorMessage());
			assertThat(second.getContentAsString()).as(path).isEqualTo(first.getContentAsString());
			assertThat(second.getHeader("Idempotent-Replayed")).as(path).isEqualTo("true");
		}
		assertThat(this.orders.runs).hasValue(4);
	}

	@Test
	void redirectsAreResults() throws Exception {
		for (String path : List.of("/orders/redirect", "/orders/redirect-view")) {
			MockHttpServletResponse first = post(path, "k1");
			MockHttpServletResponse second = post(path, "k1");
			assertThat(first.getStatus()).as(path).isEqualTo(302);
			assertThat(second.getStatus()).as(path).isEqualTo(302);
			assertThat(second.getRedirectedUrl()).as(path).isEqualTo(first.getRedirectedUrl()).startsWith("/elsewhere");
			assertThat(second.getHeader("Idempotent-Replayed")).as(path).isEqualTo("true");
		}
	}

	@Test
	void statusesThatARetryMayChangeAreReleased() throws Exception {
		for (int status : new int[] { 401, 403, 408, 425, 429, 500, 503 }) {
			String path = "/orders/status/" + status;
			assertThat(post(path, "k" + status).getStatus()).isEqualTo(status);
			assertThat(post(path, "k" + status).getHeader("Idempotent-Replayed")).isNull();
		}
		assertThat(this.orders.runs).hasValue(14);
		assertThat(this.store.verbs).doesNotContain("complete RESULT");
	}

	@Test
	void unhandledExceptionReleasesTheKey() {
		for (int i = 1; i <= 2; i++) {
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> post("/orders/fails", "k1"))
				.withStackTraceContaining("out of order");
		}
		assertThat(this.orders.runs).hasValue(2);
		assertThat(this.store.verbs).containsExactly("claim", "release", "claim", "release");
	}

	@Test
	void rememberedFailureIsReplayed() throws Exception {
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> post("/orders/remembered", "k1"));
		MockHttpServletResponse second = post("/orders/remembered", "k1");
		assertThat(second.getStatus()).isEqualTo(500);
		assertThat(second.getHeader("Idempotent-Replayed")).isEqualTo("true");
		MockHttpServletResponse busy = post("/orders/remembered-status", "k1");
		assertThat(busy.getStatus()).isEqualTo(429);
		assertThat(post("/orders/remembered-status", "k1").getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(this.orders.runs).hasValue(2);
	}

	@Test
	void requestThatBindingRejectsUsesNoKey() throws Exception {
		assertThat(send(json("/orders/typed", "{").header("Idempotency-Key", "k1")).getStatus()).isEqualTo(400);
		assertThat(this.store.verbs).isEmpty();
		assertThat(send(json("/orders/typed", "{}").header("Idempotency-Key", "k1")).getStatus()).isEqualTo(200);
	}

	@Test
	void answerThatIsNotToBeKeptNeverReachesTheStore() throws Exception {
		MockHttpServletResponse first = post("/orders/unkept", "k1");
		assertThat(first.getStatus()).isEqualTo(201);
		assertThat(first.getContentAsString()).isEqualTo("pin 1");
		assertProblem(post("/orders/unkept", "k1"), 409, "result-unavailable",
				"Request was processed, but its response is not available");
		assertThat(this.orders.runs).hasValue(1);
		assertThat(this.store.verbs).containsExactly("claim", "complete WITHOUT_RESULT", "claim");
	}

	@Test
	void answerThatIsTooLargeComesWholeAndIsNotReplayed() throws Exception {
		MockHttpServletResponse first = post("/orders/large?size=1001", "k1");
		assertThat(first.getContentAsString()).isEqualTo("x".repeat(1001));
		assertProblem(post("/orders/large?size=1001", "k1"), 409, "result-unavailable",
				"Request was processed, but its response is not available");
		assertThat(post("/orders/large?size=1000", "k2").getContentAsString()).hasSize(1000);
		assertThat(post("/orders/large?size=1000", "k2").getContentAsString()).hasSize(1000);
		assertThat(this.orders.runs).hasValue(2);
		assertThat(this.store.verbs).containsExactly("claim", "complete WITHOUT_RESULT", "claim", "claim",
				"complete RESULT", "claim");
	}

	@Test
	void modeRejectRejectsEveryLaterCall() throws Exception {
		assertThat(post("/orders/once", "k1").getStatus()).isEqualTo(200);
		assertProblem(post("/orders/once", "k1"), 409, "duplicate", "Request was already received");
		MockHttpServletResponse third = post("/orders/once?other=request", "k1");
		assertThat(third.getContentAsString()).contains("\"attempts\":3");
		assertThat(this.store.verbs).containsExactly("claim", "claim", "claim");
	}

	@Test
	void modeRejectReleasesWhenTheCallFailed() throws Exception {
		assertThat(post("/orders/once?status=503", "k1").getStatus()).isEqualTo(503);
		assertThat(post("/orders/once", "k1").getStatus()).isEqualTo(200);
	}

	@Test
	void modeLockKeepsNothing() throws Exception {
		assertThat(post("/orders/alone", "k1").getContentAsString()).isEqualTo("1");
		assertThat(post("/orders/alone", "k1").getContentAsString()).isEqualTo("2");
	}

	@Test
	void duplicateOfARunningCallIsRejectedWithAHint() throws Exception {
		MockHttpServletResponse inner = postWhileRunning("/orders/nested-http", "k1");
		assertProblem(inner, 409, "in-progress", "A request is outstanding for this Idempotency-Key");
		assertThat(Integer.parseInt(inner.getHeader("Retry-After"))).isPositive();
	}

	@Test
	void keyReusedIsJudgedBeforeAConflict() throws Exception {
		this.orders.client = this.client;
		this.orders.innerRequest = json("/orders/nested-http", "{\"other\":1}").header("Idempotency-Key", "k1");
		send(MockMvcRequestBuilders.post("/orders/nested-http").header("Idempotency-Key", "k1"));
		assertThat(this.orders.innerResponse.getStatus()).isEqualTo(422);
	}

	@Test
	void storeThatIsDownRejectsTheCall() throws Exception {
		this.store.down = true;
		MockHttpServletResponse response = post("/orders/plain", "k1");
		assertProblem(response, 503, "store-unavailable", "Idempotency store is not available");
		assertThat(response.getHeader("Retry-After")).isEqualTo("1");
		assertThat(this.orders.runs).hasValue(0);
	}

	@Test
	void contextMayReleaseTheResult() throws Exception {
		assertThat(post("/orders/forget", "k1").getContentAsString()).isEqualTo("1");
		assertThat(post("/orders/forget", "k1").getContentAsString()).isEqualTo("2");
	}

	@Test
	void annotationOfAClassNeverMeansSafeMethods() throws Exception {
		assertThat(send(MockMvcRequestBuilders.get("/catalog/items")).getContentAsString()).isEqualTo("items");
		assertThat(send(MockMvcRequestBuilders.get("/catalog/any")).getContentAsString()).isEqualTo("any");
		assertThat(send(MockMvcRequestBuilders.post("/catalog/any")).getStatus()).isEqualTo(400);
		assertThat(send(MockMvcRequestBuilders.get("/catalog/guarded")).getStatus()).isEqualTo(400);
	}

	@Test
	void annotatedGetMethodIsGuarded() throws Exception {
		RequestBuilder request = MockMvcRequestBuilders.get("/catalog/guarded").header("Idempotency-Key", "k1");
		assertThat(send(request).getContentAsString()).isEqualTo("guarded");
		assertThat(send(request).getHeader("Idempotent-Replayed")).isEqualTo("true");
	}

	@Test
	void handlerMethodThatIsNoHandlerOfTheRequestIsNotGuardedTwice() throws Exception {
		assertThat(post("/orders/self", "k1").getContentAsString()).isEqualTo("1");
		assertThat(post("/orders/self", "k1").getContentAsString()).isEqualTo("1");
		assertThat(this.store.verbs).containsExactly("claim", "complete RESULT", "claim");
	}

	@ParameterizedTest
	@ValueSource(classes = { JoinOfATask.class, JoinOfAFutureInAnEntity.class, JoinOfAStream.class })
	void transactionCannotBeJoinedByWorkThatBeginsLater(Class<?> controller) {
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> WebMvcAdapterSetup.start(controller))
			.withStackTraceContaining("its work continues after the method returns");
	}

	/** It would count as found, and the work of a dead node as done. */
	@ParameterizedTest
	@ValueSource(classes = { FoundByATask.class, FoundByAPublisher.class })
	void lookUpThatBeginsLaterFailsTheStart(Class<?> controller) {
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> WebMvcAdapterSetup.start(controller))
			.withStackTraceContaining(controller.getSimpleName() + "#pay")
			.withStackTraceContaining("its recover method 'find' returns an asynchronous result");
	}

	@Test
	void lookUpByAFutureIsWaitedFor() {
		WebApplicationContext waiting = WebMvcAdapterSetup.start(FoundByAFuture.class);
		assertThat(waiting.getBean(FoundByAFuture.class)).isNotNull();
		((ConfigurableApplicationContext) waiting).close();
	}

	@Test
	void withoutTheFilterNothingRunsUnprotected() {
		MockMvc unfiltered = MockMvcBuilders.webAppContextSetup(this.context).build();
		assertThatExceptionOfType(Exception.class).isThrownBy(
				() -> unfiltered.perform(MockMvcRequestBuilders.post("/orders/plain").header("Idempotency-Key", "k1")))
			.withStackTraceContaining("IdempotencyFilter");
		assertThat(this.orders.runs).hasValue(0);
	}

	@Test
	void asynchronousAnswersAreReplayed() throws Exception {
		for (String path : List.of("/orders/callable", "/orders/future")) {
			MvcResult started = this.client.perform(MockMvcRequestBuilders.post(path).header("Idempotency-Key", "k1"))
				.andReturn();
			MockHttpServletResponse first = send(MockMvcRequestBuilders.asyncDispatch(started));
			assertThat(first.getContentAsString()).isEqualTo("done guarded");
			MockHttpServletResponse second = post(path, "k1");
			assertThat(second.getContentAsString()).isEqualTo("done guarded");
			assertThat(second.getHeader("Idempotent-Replayed")).isEqualTo("true");
		}
		assertThat(this.orders.runs).hasValue(2);
	}

	/**
	 * Tomcat tells that an asynchronous request is over before it renders its error; here
	 * nobody ever renders it.
	 */
	@Test
	void errorOfAnAsynchronousAnswerThatNobodyRendersIsKept() throws Exception {
		IdempotencyFilter.RequestListener listener = new IdempotencyFilter.RequestListener();
		MvcResult started = this.client
			.perform(MockMvcRequestBuilders.post("/orders/gone").header("Idempotency-Key", "k1").with((request) -> {
				listener.requestInitialized(new ServletRequestEvent(request.getServletContext(), request));
				return request;
			}))
			.andReturn();
		started.getAsyncResult();
		this.client.perform(MockMvcRequestBuilders.asyncDispatch(started));
		assertThat(this.store.verbs).containsExactly("claim");
		MockHttpServletRequest request = started.getRequest();
		((MockAsyncContext) request.getAsyncContext()).complete();
		listener.requestDestroyed(new ServletRequestEvent(request.getServletContext(), request));
		await().atMost(Duration.ofSeconds(60))
			// On a slow machine the claim is renewed meanwhile.
			.untilAsserted(() -> assertThat(this.store.verbs).startsWith("claim").endsWith("complete RESULT"));
		MockHttpServletResponse second = post("/orders/gone", "k1");
		assertThat(second.getStatus()).isEqualTo(410);
		assertThat(second.getHeader("Idempotent-Replayed")).isEqualTo("true");
	}

	/**
	 * A filter of a resource server answers a denied call with 403 and lets the container
	 * render nothing: duplicates must not get the 500 that nobody saw.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 403, 302, 200 })
	void failureThatAFilterHasAnsweredIsNoErrorOfTheContainer(int status) throws Exception {
		MockMvc filtered = MockMvcBuilders.webAppContextSetup(this.context).addFilters((request, response, chain) -> {
			try {
				chain.doFilter(request, response);
			}
			catch (ServletException ex) {
				((HttpServletResponse) response).setStatus(status);
				response.flushBuffer();
			}
		}, this.context.getBean(IdempotencyFilter.class)).build();
		IdempotencyFilter.RequestListener listener = new IdempotencyFilter.RequestListener();
		MockHttpServletRequest request = filtered
			.perform(MockMvcRequestBuilders.post("/orders/remembered").header("Idempotency-Key", "k1").with((asked) -> {
				listener.requestInitialized(new ServletRequestEvent(asked.getServletContext(), asked));
				return asked;
			}))
			.andReturn()
			.getRequest();
		listener.requestDestroyed(new ServletRequestEvent(request.getServletContext(), request));
		assertThat(this.store.verbs).containsExactly("claim", "complete WITHOUT_RESULT");
		assertThat(post("/orders/remembered", "k1").getStatus()).isEqualTo(409);
	}

	@Test
	void handlersThatReturnNothingAreReplayed() throws Exception {
		assertThat(post("/orders/nothing", "k1").getStatus()).isEqualTo(204);
		MockHttpServletResponse second = post("/orders/nothing", "k1");
		assertThat(second.getStatus()).isEqualTo(204);
		assertThat(second.getContentAsByteArray()).isEmpty();
		assertThat(second.getHeader("Content-Length")).isNull();
	}

	@Test
	void whatIsWrittenByAWriterIsReplayed() throws Exception {
		MockHttpServletResponse first = post("/orders/writer", "k1");
		MockHttpServletResponse second = post("/orders/writer", "k1");
		assertThat(first.getContentAsString()).isEqualTo("käse");
		assertThat(second.getContentAsByteArray()).isEqualTo(first.getContentAsByteArray());
		assertThat(second.getContentType()).isEqualTo(first.getContentType()).isEqualTo("text/plain;charset=UTF-8");
		assertThat(second.getHeader("Content-Language")).isEqualTo("de");
	}

	private MockHttpServletResponse postWhileRunning(String path, String key) throws Exception {
		this.orders.client = this.client;
		this.orders.innerRequest = MockMvcRequestBuilders.post(path).header("Idempotency-Key", key);
		assertThat(post(path, key).getStatus()).isEqualTo(200);
		return this.orders.innerResponse;
	}

	private MockHttpServletResponse upload(String key, String fileName, String type, String content) throws Exception {
		MockMultipartFile file = new MockMultipartFile("file", fileName, type,
				content.getBytes(StandardCharsets.UTF_8));
		return send(MockMvcRequestBuilders.multipart("/orders/upload").file(file).header("Idempotency-Key", key));
	}

	private MockHttpServletResponse post(String path, String key) throws Exception {
		return send(MockMvcRequestBuilders.post(URI.create(path)).header("Idempotency-Key", key));
	}

	private MockHttpServletResponse send(RequestBuilder request) throws Exception {
		return this.client.perform(request).andReturn().getResponse();
	}

	private static AbstractMockHttpServletRequestBuilder<?> json(String path, String body) {
		return MockMvcRequestBuilders.post(URI.create(path)).contentType(MediaType.APPLICATION_JSON).content(body);
	}

	private static AbstractMockHttpServletRequestBuilder<?> form(String path, String body) {
		return json(path, body.replace(" ", "%20")).contentType(MediaType.APPLICATION_FORM_URLENCODED);
	}

	private static void assertProblem(MockHttpServletResponse response, int status, String code, String title)
			throws Exception {
		assertThat(response.getStatus()).isEqualTo(status);
		assertThat(response.getContentType()).isEqualTo("application/problem+json");
		assertThat(response.getContentAsString()).contains("\"type\":\"urn:idempotency:" + code + "\"")
			.contains("\"code\":\"" + code + "\"")
			.contains("\"title\":\"" + title + "\"")
			.contains("\"status\":" + status)
			.contains("\"detail\":\"");
		assertThat(response.getHeader("Idempotent-Replayed")).isNull();
	}

	@RestController
	@RequestMapping("/orders")
	static class Orders {

		final AtomicInteger runs = new AtomicInteger();

		MockMvc client;

		RequestBuilder innerRequest;

		MockHttpServletResponse innerResponse;

		@Idempotent
		@PostMapping
		ResponseEntity<Map<String, Object>> create(@RequestBody Object order) {
			return ResponseEntity.created(URI.create("/orders/" + this.runs.incrementAndGet()))
				.header("X-App", "a", "b")
				.body(Map.of("order", order));
		}

		@Idempotent
		@PostMapping("/secrets")
		String secrets(HttpServletResponse response) {
			response.addCookie(new Cookie("session", "1"));
			for (String name : List.of("Authorization", "WWW-Authenticate", "Date", "Connection", "X-Excluded",
					"X-Kept")) {
				response.addHeader(name, "value");
			}
			return "secrets";
		}

		@Idempotent(keepResult = false)
		@PostMapping("/unkept")
		ResponseEntity<String> unkept() {
			return ResponseEntity.created(URI.create("/orders/1")).body("pin " + this.runs.incrementAndGet());
		}

		@Idempotent
		@PostMapping("/cached")
		ResponseEntity<String> cached() {
			return ResponseEntity.ok().header("Cache-Control", "max-age=60").body("cached");
		}

		@Idempotent
		@PostMapping("/plain")
		String plain() {
			return Integer.toString(this.runs.incrementAndGet());
		}

		@Idempotent(scope = "header('X-Tenant')")
		@PostMapping("/scoped")
		String scoped() {
			return Integer.toString(this.runs.incrementAndGet());
		}

		@Idempotent(required = false)
		@PostMapping("/optional")
		String optional() {
			return this.runs.incrementAndGet() + (IdempotencyContext.current().isPresent() ? " guarded" : " unguarded");
		}

		@Idempotent(fingerprint = "none")
		@PostMapping("/uncompared")
		String uncompared(@RequestBody String body) {
			return Integer.toString(body.length());
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/uncounted")
		String uncounted(@RequestBody String body) {
			return Integer.toString(body.length());
		}

		@Idempotent(required = false)
		@PostMapping("/body-optional")
		String bodyOptional(@RequestBody String body) {
			return "ok";
		}

		@Idempotent(condition = "#guard")
		@PostMapping("/conditional")
		String conditional(@RequestParam boolean guard) {
			return Integer.toString(this.runs.incrementAndGet());
		}

		@Idempotent
		@PostMapping("/{id}/pay")
		String pay(@PathVariable int id) {
			return "paid " + id;
		}

		@Idempotent
		@PostMapping("/raw")
		void raw(HttpServletRequest request, HttpServletResponse response) throws IOException {
			request.getInputStream().transferTo(response.getOutputStream());
		}

		@Idempotent
		@PostMapping("/form")
		String form(@RequestParam String a, @RequestParam List<String> b) {
			return a + " " + b;
		}

		@Idempotent
		@PostMapping("/raw-form")
		String rawForm(HttpServletRequest request) throws IOException {
			return new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8) + "|"
					+ List.of(request.getParameterValues("a")) + "|" + request.getParameter("b");
		}

		@Idempotent
		@PostMapping("/upload")
		String upload(@RequestParam MultipartFile file) throws IOException {
			return file.getOriginalFilename() + ":" + new String(file.getBytes(), StandardCharsets.UTF_8);
		}

		@Idempotent(body = "/order/id")
		@PostMapping("/keyed")
		String keyed(@RequestBody Map<String, Object> order) {
			return Integer.toString(this.runs.incrementAndGet());
		}

		@Idempotent(body = "token")
		@PostMapping("/field")
		String field() {
			return Integer.toString(this.runs.incrementAndGet());
		}

		@Idempotent
		@PostMapping("/typed")
		String typed(@RequestBody Map<String, Object> order) {
			return "typed";
		}

		@Idempotent
		@PostMapping("/not-found")
		void notFound() {
			this.runs.incrementAndGet();
			throw new ResponseStatusException(CONFLICT, "no such order");
		}

		@Idempotent
		@PostMapping("/handled")
		void handled() {
			this.runs.incrementAndGet();
			throw new IllegalArgumentException("bad order");
		}

		@ExceptionHandler
		@ResponseStatus(code = CONFLICT)
		String handle(IllegalArgumentException ex) {
			return ex.getMessage();
		}

		@Idempotent
		@PostMapping("/send-error")
		void sendError(HttpServletResponse response) throws IOException {
			this.runs.incrementAndGet();
			response.sendError(410, "gone");
		}

		@Idempotent
		@PostMapping("/status")
		void status(HttpServletResponse response) {
			this.runs.incrementAndGet();
			response.setStatus(404);
		}

		@Idempotent
		@PostMapping("/redirect")
		void redirect(HttpServletResponse response) throws IOException {
			response.sendRedirect("/elsewhere?a=b");
		}

		@Idempotent
		@PostMapping("/redirect-view")
		org.springframework.web.servlet.view.RedirectView redirectView() {
			return new org.springframework.web.servlet.view.RedirectView("/elsewhere");
		}

		@Idempotent
		@PostMapping("/status/{status}")
		ResponseEntity<String> status(@PathVariable int status) {
			this.runs.incrementAndGet();
			return ResponseEntity.status(status).body("status");
		}

		@Idempotent
		@PostMapping("/fails")
		void fails() {
			this.runs.incrementAndGet();
			throw new IllegalStateException("out of order");
		}

		@Idempotent(onFailure = FailureMode.REMEMBER)
		@PostMapping("/remembered")
		void remembered() {
			this.runs.incrementAndGet();
			throw new IllegalStateException("out of order");
		}

		@Idempotent(onFailure = FailureMode.REMEMBER)
		@PostMapping("/remembered-status")
		void rememberedStatus() {
			this.runs.incrementAndGet();
			throw new ResponseStatusException(TOO_MANY_REQUESTS);
		}

		@Idempotent
		@PostMapping("/large")
		void large(@RequestParam int size, HttpServletResponse response) throws IOException {
			this.runs.incrementAndGet();
			response.getOutputStream().print("x".repeat(size));
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/once")
		ResponseEntity<String> once(@RequestParam(defaultValue = "200") int status) {
			return ResponseEntity.status(status).body("once");
		}

		@Idempotent(mode = IdempotencyMode.LOCK)
		@PostMapping("/alone")
		String alone() {
			return Integer.toString(this.runs.incrementAndGet());
		}

		@Idempotent
		@PostMapping("/nested-http")
		String nestedHttp() throws Exception {
			if (this.innerResponse == null) {
				this.innerResponse = this.client.perform(this.innerRequest).andReturn().getResponse();
			}
			return "outer";
		}

		@Idempotent
		@PostMapping("/forget")
		String forget() {
			IdempotencyContext.current().orElseThrow().releaseKey();
			return Integer.toString(this.runs.incrementAndGet());
		}

		@Idempotent
		@PostMapping("/self")
		String self() {
			return plain();
		}

		@Idempotent
		@PostMapping("/callable")
		Callable<String> callable() {
			this.runs.incrementAndGet();
			return () -> "done " + (IdempotencyContext.current().isPresent() ? "guarded" : "unguarded");
		}

		@Idempotent
		@PostMapping("/future")
		CompletableFuture<String> future() {
			this.runs.incrementAndGet();
			return CompletableFuture.completedFuture("done guarded");
		}

		@Idempotent
		@PostMapping("/gone")
		CompletableFuture<String> gone() {
			this.runs.incrementAndGet();
			return CompletableFuture
				.failedFuture(new ResponseStatusException(org.springframework.http.HttpStatus.GONE));
		}

		@Idempotent
		@PostMapping("/nothing")
		@ResponseStatus(org.springframework.http.HttpStatus.NO_CONTENT)
		void nothing() {
		}

		@Idempotent
		@PostMapping("/writer")
		void writer(HttpServletResponse response) throws IOException {
			response.setLocale(java.util.Locale.GERMAN);
			response.setContentType("text/plain;charset=UTF-8");
			response.getWriter().print("käse");
			response.setContentType("text/plain;charset=ISO-8859-1");
			response.flushBuffer();
		}

	}

	@Idempotent
	@RestController
	@RequestMapping("/catalog")
	static class Catalog {

		@GetMapping("/items")
		public String items() {
			return "items";
		}

		@RequestMapping("/any")
		public String any() {
			return "any";
		}

		@Idempotent
		@GetMapping("/guarded")
		public String guarded() {
			return "guarded";
		}

		@PostMapping("/echo")
		@Idempotent(required = false, mode = IdempotencyMode.REJECT)
		public String echo(@RequestBody String body) {
			return body;
		}

	}

	@RestController
	static class FoundByATask {

		@Idempotent(recover = "find")
		@PostMapping("/found")
		Callable<String> pay() {
			return () -> "paid";
		}

		Callable<String> find() {
			return () -> null;
		}

	}

	@RestController
	static class FoundByAPublisher {

		@Idempotent(recover = "find")
		@PostMapping("/found")
		Flow.Publisher<String> pay() {
			return new SubmissionPublisher<>();
		}

		Flow.Publisher<String> find() {
			return new SubmissionPublisher<>();
		}

	}

	@RestController
	static class FoundByAFuture {

		@Idempotent(recover = "find")
		@PostMapping("/found")
		CompletableFuture<String> pay() {
			return CompletableFuture.completedFuture("paid");
		}

		CompletableFuture<String> find() {
			return CompletableFuture.completedFuture(null);
		}

	}

	@RestController
	static class JoinOfATask {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/join")
		Callable<String> join() {
			return () -> "later";
		}

	}

	@RestController
	static class JoinOfAFutureInAnEntity {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/join")
		ResponseEntity<CompletableFuture<String>> join() {
			return ResponseEntity.ok(CompletableFuture.completedFuture("later"));
		}

	}

	@RestController
	static class JoinOfAStream {

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/join")
		SseEmitter join() {
			return new SseEmitter();
		}

	}

}
