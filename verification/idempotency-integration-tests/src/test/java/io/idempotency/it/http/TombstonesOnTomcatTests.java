package io.idempotency.it.http;

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class TombstonesOnTomcatTests extends OnTomcat {

	private AsyncController async;

	@BeforeEach
	void lookUp(@Autowired AsyncController proxy) {
		this.async = AopTestUtils.getTargetObject(proxy);
	}

	@AfterEach
	void letTheWorkEnd() {
		this.async.mayEnd.countDown();
		this.async.mayEnd = new CountDownLatch(0);
	}

	@Test
	void largeAnswerIsGivenWholeAndItsDuplicateIsRefused() {
		String body = "x".repeat(60_000);
		Answer first = this.client.post("/large", this.key, "text/plain", body);
		Answer second = this.client.post("/large", this.key, "text/plain", body);
		assertThat(first.status()).isEqualTo(200);
		assertThat(first.text()).isEqualTo(body.repeat(3));
		assertUnavailable(second);
		assertThat(this.runs.of("/large")).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/failures/unwritable", "/failures/unwritable-later", "/failures/unwritable-view" })
	void whatWasDoneIsNotDoneAgainBecauseItsAnswerCouldNotBeWritten(String path) {
		int before = this.runs.of(path);
		assertThat(this.client.post(path, this.key).status()).isEqualTo(500);
		assertUnavailable(this.client.post(path, this.key));
		assertThat(this.runs.of(path) - before).isEqualTo(1);
	}

	@Test
	void firstEventIsNotDelayedAndTheDuplicateIsRefused() throws Exception {
		this.async.mayEnd = new CountDownLatch(1);
		int before = this.runs.of("/async/sse");
		HttpResponse<InputStream> stream = this.client.open(this.client.to("/async/sse")
			.header("Idempotency-Key", this.key)
			.POST(HttpRequest.BodyPublishers.noBody()));
		BufferedReader events = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8));
		assertThat(events.readLine()).startsWith("data:first");
		Answer during = this.client.post("/async/sse", this.key);
		assertThat(during.status()).isEqualTo(409);
		assertThat(during.text()).contains("in-progress");
		this.async.mayEnd.countDown();
		assertThat(events.lines().toList()).anySatisfy((line) -> assertThat(line).startsWith("data:last"));
		await().untilAsserted(() -> assertUnavailable(this.client.post("/async/sse", this.key)));
		assertThat(this.runs.of("/async/sse") - before).isEqualTo(1);
	}

	@Test
	void fluxIsStreamedAndItsDuplicateIsRefused() {
		int before = this.runs.of("/async/flux");
		Answer first = this.client.post("/async/flux", this.key);
		assertThat(first.text()).contains("data:a").contains("data:b");
		await().untilAsserted(() -> assertUnavailable(this.client.post("/async/flux", this.key)));
		assertThat(this.runs.of("/async/flux") - before).isEqualTo(1);
	}

	@Test
	void timedOutCallKeepsItsKeyWhileTheWorkRuns() {
		this.async.mayEnd = new CountDownLatch(1);
		int before = this.runs.of("/async/future-too-late");
		Answer first = this.client.post("/async/future-too-late", this.key);
		Answer during = this.client.post("/async/future-too-late", this.key);
		assertThat(first.status()).isEqualTo(503);
		assertThat(during.status()).as("during %s", during).isEqualTo(409);
		assertThat(during.text()).contains("in-progress");
		this.async.mayEnd.countDown();
		await().untilAsserted(() -> assertUnavailable(this.client.post("/async/future-too-late", this.key)));
		assertThat(this.runs.of("/async/future-too-late") - before).isEqualTo(1);
	}

	@Test
	void timedOutCallWhoseWorkCannotBeSeenKeepsItsKeyForItsLease() {
		int before = this.runs.of("/async/deferred-too-late");
		Answer first = this.client.post("/async/deferred-too-late", this.key);
		Answer second = this.client.post("/async/deferred-too-late", this.key);
		assertThat(first.status()).isEqualTo(503);
		assertThat(second.status()).isEqualTo(409);
		assertThat(second.text()).contains("in-progress");
		assertThat(this.runs.of("/async/deferred-too-late") - before).isEqualTo(1);
	}

	private static void assertUnavailable(Answer answer) {
		assertThat(answer.status()).as("answer %s", answer).isEqualTo(409);
		assertThat(answer.text()).contains("\"code\":\"result-unavailable\"");
	}

}
