package io.idempotency.samples.shop.browser;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import com.microsoft.playwright.Page;
import io.idempotency.samples.shop.ShopApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of {@code idempotency-client.js}, against answers that are made up.
 */
@SpringBootTest(classes = ShopApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class IdempotencyClientBrowserTests {

	private static final Map<String, Object> DONE = Map.of("status", 201);

	@RegisterExtension
	static final Chromium chromium = new Chromium();

	@LocalServerPort
	private int port;

	private Page page;

	@BeforeEach
	void open() {
		this.page = chromium.newPage();
		this.page.navigate("http://localhost:" + this.port + "/favicon.svg");
	}

	@Test
	void codeSaysWhatToDo() {
		Map<String, String> expected = new HashMap<>(Map.of("key-missing", "tell-user", "key-invalid", "new-token",
				"token-unknown", "new-token", "key-reused", "tell-user", "in-progress", "retry-later", "duplicate",
				"ignore", "result-unavailable", "tell-user", "outcome-unknown", "tell-user", "body-too-large",
				"tell-user", "store-unavailable", "retry-later"));
		expected.put("caller-unknown", "tell-user");
		Object actions = this.page.evaluate("""
				async (codes) => {
					const { actionFor } = await import("/idempotency-client.js");
					return Object.fromEntries(codes.map((code) => [code, actionFor(409, code)]));
				}""", List.copyOf(expected.keySet()));
		assertThat(actions).isEqualTo(expected);
	}

	@Test
	void whatAProblemSaysAboutARetryCountsMoreThanItsStatus() {
		Object actions = this.page.evaluate(
				"""
						async () => {
							const { actionFor } = await import("/idempotency-client.js");
							return [[409, undefined, "same-key"], [503, "new-code", "never"], [429, "new-code", "fix-request"],
								[503, "store-unavailable", "never"], [500, undefined, "new-key"], [400, "token-unknown", "new-key"],
								[409, "duplicate", "never"], [503, "new-code", "perhaps"], [200, undefined, "never"]]
								.map((answer) => actionFor(...answer));
						}""");
		assertThat(actions).isEqualTo(List.of("retry-later", "tell-user", "tell-user", "tell-user", "tell-user",
				"new-token", "ignore", "retry-later", "done"));
	}

	@Test
	void statusSaysWhatToDoWhereThereIsNoCode() {
		Object actions = this.page.evaluate("""
				async () => {
					const { actionFor } = await import("/idempotency-client.js");
					return [200, 201, 303, 400, 401, 404, 408, 409, 422, 425, 429, 500, 502, 503]
						.map((status) => status + " " + actionFor(status, undefined));
				}""");
		assertThat(actions).isEqualTo(List.of("200 done", "201 done", "303 done", "400 tell-user", "401 tell-user",
				"404 tell-user", "408 retry-later", "409 tell-user", "422 tell-user", "425 retry-later",
				"429 retry-later", "500 retry-later", "502 retry-later", "503 retry-later"));
	}

	@Test
	void answerEndsTheIntentAndTheNextOneHasAnotherKey() {
		DocumentContext result = send(List.of(DONE), Map.of(), 2);
		List<String> keys = result.read("$.calls[*].key");
		assertThat(keys).hasSize(2).doesNotHaveDuplicates();
		assertThat(keys.get(0)).isEqualTo(result.read("$.first"));
		assertThat(result.<String>read("$.answer.action")).isEqualTo("done");
		assertThat(result.<String>read("$.key")).isNotIn(keys);
		assertThat(result.<Object>read("$.unanswered")).isNull();
	}

	@Test
	void intentThatThePageEndsKeepsItsKey() {
		DocumentContext result = send(List.of(DONE), Map.of("autoRenew", false), 2);
		assertThat(keysOf(result)).containsExactly(result.<String>read("$.first"));
	}

	@Test
	void lostAnswerIsAskedForAgainWithTheSameKey() {
		DocumentContext result = send(List.of("lost", "lost", DONE));
		assertThat(result.<List<String>>read("$.calls[*].key")).hasSize(3);
		assertThat(keysOf(result)).containsExactly(result.<String>read("$.first"));
		assertThat(result.<List<Number>>read("$.waits")).hasSize(2)
			.allSatisfy((wait) -> assertThat(wait.doubleValue()).isBetween(250.0, 1000.0));
		assertThat(result.<String>read("$.answer.action")).isEqualTo("done");
		assertThat(result.<Integer>read("$.answer.attempts")).isEqualTo(3);
	}

	@Test
	void callThatTakesTooLongIsGivenUpAndAskedForAgainWithTheSameKey() {
		DocumentContext result = send(List.of("silent", DONE), Map.of("timeout", 20), 1);
		assertThat(result.<List<String>>read("$.calls[*].key")).hasSize(2);
		assertThat(keysOf(result)).hasSize(1);
		assertThat(result.<String>read("$.answer.action")).isEqualTo("done");
	}

	@Test
	void waitsAsManySecondsAsRetryAfterSays() {
		DocumentContext result = send(List.of(problem(409, "in-progress", Map.of("Retry-After", "7")), DONE));
		assertThat(result.<Number>read("$.waits[0]").doubleValue()).isBetween(7000.0, 7250.0);
		assertThat(keysOf(result)).hasSize(1);
	}

	@Test
	void waitsUntilTheDateThatRetryAfterSaysByTheClockOfTheService() {
		ZonedDateTime now = ZonedDateTime.of(2020, 2, 29, 23, 59, 55, 0, ZoneOffset.UTC);
		DocumentContext result = send(List.of(
				problem(503, "store-unavailable", Map.of("Date", date(now), "Retry-After", date(now.plusSeconds(12)))),
				DONE));
		assertThat(result.<Number>read("$.waits[0]").doubleValue()).isBetween(12_000.0, 12_250.0);
	}

	@Test
	void retriesAreBoundedAndTheKeyIsKeptForTheUserToTryAgain() {
		DocumentContext result = send(List.of(problem(503, "store-unavailable", Map.of("Retry-After", "1"))),
				Map.of("retries", 2), 1);
		assertThat(result.<String>read("$.answer.action")).isEqualTo("retry-later");
		assertThat(result.<List<String>>read("$.calls[*].key")).hasSize(3);
		assertThat(keysOf(result)).containsExactly(result.<String>read("$.key"));
		assertThat(result.<String>read("$.unanswered.url")).isEqualTo("/pay");
		assertThat(result.<String>read("$.unanswered.body")).isEqualTo("amount=1");
	}

	@Test
	void waitThatIsTooLongIsLeftToTheUser() {
		DocumentContext result = send(List.of(problem(503, "store-unavailable", Map.of("Retry-After", "3600"))));
		assertThat(result.<String>read("$.answer.action")).isEqualTo("retry-later");
		assertThat(result.<Integer>read("$.answer.retryAfter")).isEqualTo(3_600_000);
		assertThat(result.<List<Number>>read("$.waits")).isEmpty();
	}

	@Test
	void bodyStaysOutOfTheStorageWhereThePageWantsThat() {
		DocumentContext result = send(List.of("lost"), Map.of("remember", false, "retries", 0), 1);
		assertThat(result.<String>read("$.kept")).contains(result.<String>read("$.key")).doesNotContain("amount=1");
		assertThat(result.<Object>read("$.unanswered")).isNull();
	}

	@Test
	void unknownKeyIsDrawnAnewOnce() {
		DocumentContext result = send(List.of(problem(400, "key-invalid"), DONE));
		assertThat(keysOf(result)).hasSize(2);
		assertThat(result.<String>read("$.answer.action")).isEqualTo("done");
		DocumentContext again = send(List.of(problem(400, "key-invalid")));
		assertThat(again.<List<String>>read("$.calls[*].key")).hasSize(2);
		assertThat(again.<String>read("$.answer.action")).isEqualTo("new-token");
	}

	@Test
	void unknownTokenAfterALostAnswerIsForTheUserToDecide() {
		DocumentContext result = send(List.of("lost", problem(400, "token-unknown"), DONE));
		assertThat(result.<List<String>>read("$.calls[*].key")).hasSize(2);
		assertThat(keysOf(result)).hasSize(1);
		assertThat(result.<String>read("$.answer.action")).isEqualTo("tell-user");
		assertThat(result.<Boolean>read("$.answer.uncertain")).isTrue();
		assertThat(result.<String>read("$.key")).isNotIn(keysOf(result));
	}

	@Test
	void unknownTokenAfterARefreshIsForTheUserToDecide() {
		DocumentContext result = send(List.of(problem(400, "token-unknown"), DONE), Map.of(), 1,
				Map.of("key", "drawn-before", "sent", true));
		assertThat(keysOf(result)).containsExactly("drawn-before");
		assertThat(result.<String>read("$.answer.action")).isEqualTo("tell-user");
		assertThat(result.<Boolean>read("$.answer.uncertain")).isTrue();
	}

	@Test
	void duplicateIsIgnoredUnlessTheFirstCallFailed() {
		assertThat(send(List.of(problem(409, "duplicate"))).<String>read("$.answer.action")).isEqualTo("ignore");
		DocumentContext lost = send(List.of("lost", problem(409, "duplicate")));
		assertThat(lost.<String>read("$.answer.action")).isEqualTo("ignore");
		assertThat(lost.<Boolean>read("$.answer.uncertain")).isTrue();
		DocumentContext failed = send(List.of(Map.of("status", 500), problem(409, "duplicate")));
		assertThat(failed.<String>read("$.answer.action")).isEqualTo("tell-user");
	}

	@Test
	void keyIsKeptWhileAnotherOneCouldRunTheWorkAgain() {
		for (Map<String, Object> open : List.of(problem(409, "outcome-unknown"), problem(409, "result-unavailable"),
				problem(401, "unauthorized"), Map.<String, Object>of("status", 503, "code", "not-known-yet", "retry",
						"never", "headers", Map.of()))) {
			DocumentContext result = send(List.of(open));
			assertThat(result.<String>read("$.answer.action")).isEqualTo("tell-user");
			assertThat(result.<String>read("$.key")).isEqualTo(result.read("$.first"));
		}
	}

	@Test
	void rejectionOfTheApplicationHasItsMessageAndEndsTheIntent() {
		DocumentContext result = send(List.of(problem(409, "out-of-stock")));
		assertThat(result.<String>read("$.answer.action")).isEqualTo("tell-user");
		assertThat(result.<String>read("$.answer.message")).isEqualTo("Detail of out-of-stock");
		assertThat(result.<String>read("$.key")).isNotEqualTo(result.read("$.first"));
	}

	@Test
	void tokenIsDrawnFromTheServiceWhenItIsNeeded() {
		Object drawn = this.page.evaluate("""
				async () => {
					const { IdempotencyClient } = await import("/idempotency-client.js");
					const calls = [];
					const client = new IdempotencyClient({ fetch: async (url, init) => {
						calls.push(init.method + " " + url + " " + (init.headers?.get("Idempotency-Key") ?? "-"));
						return new Response('{"token":"from-the-service"}', { status: 201 });
					} });
					const intent = client.intent("pay", { draw: () => client.issueToken("/tokens") });
					calls.push("key " + intent.key);
					await intent.send("/pay");
					calls.push("key " + intent.key);
					return calls;
				}""");
		assertThat(drawn).isEqualTo(List.of("key null", "POST /tokens -", "POST /pay from-the-service", "key null"));
	}

	@Test
	void secondSendWhileOneIsUnderWayGetsItsAnswerAndTheKeyCannotBeRenewed() {
		Object result = this.page.evaluate("""
				async () => {
					const { IdempotencyClient } = await import("/idempotency-client.js");
					let calls = 0;
					let answer;
					const client = new IdempotencyClient({ fetch: () => {
						calls++;
						return new Promise((resolve) => answer = resolve);
					} });
					const intent = client.intent("pay");
					const sent = [intent.send("/pay"), intent.send("/pay")];
					let renewed = "renewed";
					try {
						intent.renew();
					}
					catch (error) {
						renewed = "rejected";
					}
					while (!answer) {
						await Promise.resolve();
					}
					answer(new Response("{}", { status: 201 }));
					const [first, second] = await Promise.all(sent);
					return [calls, first === second, renewed, intent.pending];
				}""");
		assertThat(result).isEqualTo(List.of(1, true, "rejected", false));
	}

	private DocumentContext send(List<?> answers) {
		return send(answers, Map.of(), 1);
	}

	private DocumentContext send(List<?> answers, Map<String, Object> options, int sends) {
		return send(answers, options, sends, null);
	}

	private DocumentContext send(List<?> answers, Map<String, Object> options, int sends,
			@Nullable Map<String, Object> kept) {
		Map<String, @Nullable Object> input = new HashMap<>(
				Map.of("answers", answers, "options", options, "sends", sends));
		input.put("kept", kept);
		return JsonPath.parse(this.page.evaluate(harness(), input));
	}

	private static HashSet<String> keysOf(DocumentContext result) {
		return new HashSet<>(result.<List<String>>read("$.calls[*].key"));
	}

	private static Map<String, Object> problem(int status, String code) {
		return problem(status, code, Map.of());
	}

	private static Map<String, Object> problem(int status, String code, Map<String, String> headers) {
		return Map.of("status", status, "code", code, "headers", headers);
	}

	private static String date(ZonedDateTime time) {
		return DateTimeFormatter.RFC_1123_DATE_TIME.format(time);
	}

	private static String harness() {
		try {
			return new ClassPathResource("client-harness.js").getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new IllegalStateException("No harness for the client", ex);
		}
	}

}
