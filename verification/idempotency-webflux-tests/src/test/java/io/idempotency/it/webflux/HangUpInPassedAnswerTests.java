package io.idempotency.it.webflux;

import java.util.UUID;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.Scenario;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Clients that hang up when a part of the answer is on its way: making the rest of it is
 * a part of the work.
 */
class HangUpInPassedAnswerTests {

	abstract static class Passed {

		final String key = UUID.randomUUID().toString();

		@Value("${local.server.port}")
		int port;

		Answer awaitEnd(String path) {
			return await().until(() -> new Client(this.port).post(path, this.key, "application/json", ""),
					(answer) -> !answer.text().contains("\"in-progress\""));
		}

		/** Hangs up behind the first payment. */
		void hangUp(String path) throws Exception {
			try (RawClient client = new RawClient(this.port)) {
				client.send(path, this.key, "", 0, "").awaitAnswer();
				await().until(() -> {
					client.takeAnswer();
					return runs("gate " + this.key) == 1;
				});
			}
			await().until(() -> runs("closed " + this.key) == 1);
		}

		/** Hangs up, and sees the work be cancelled. */
		void hangUpAndCancel(String path) throws Exception {
			hangUp(path);
			await().until(() -> runs("cancelled " + this.key) == 1);
			goOn();
		}

		void goOn() {
			OrdersController.GATES.get(this.key).tryEmitEmpty();
		}

	}

	@Nested
	@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
	@Import(PassedAnswers.class)
	class GoingOn extends Passed {

		@ParameterizedTest
		@ValueSource(strings = { "/passed/array", "/passed/body", "/passed/route" })
		void workGoesOnToItsEnd(String path) throws Exception {
			hangUp(path);
			goOn();
			Scenario.assertCode(awaitEnd(path), 409, "result-unavailable");
			assertThat(runs("paid " + this.key)).isEqualTo(PassedAnswers.PAYMENTS);
			assertThat(runs("cancelled " + this.key)).isZero();
		}

		@Test
		void workGoesOnWhenTheClientLeavesBeforeTheFirstByte() throws Exception {
			try (RawClient client = new RawClient(this.port)) {
				client.send("/passed/late-array", this.key, "", 0, "");
				await().until(() -> runs("gate " + this.key) == 1);
			}
			await().until(() -> runs("closed " + this.key) == 1);
			goOn();
			Scenario.assertCode(awaitEnd("/passed/late-array"), 409, "result-unavailable");
			assertThat(runs("paid " + this.key)).isEqualTo(PassedAnswers.PAYMENTS);
		}

		/** As in Spring MVC. It may have no end. */
		@Test
		void streamIsOverWithItsClient() throws Exception {
			hangUpAndCancel("/passed/stream");
			Scenario.assertCode(awaitEnd("/passed/stream"), 409, "result-unavailable");
			assertThat(runs("paid " + this.key)).isEqualTo(1);
		}

		@ParameterizedTest
		@ValueSource(strings = { "/passed/failing", "/passed/failing-array" })
		void workThatHasLostAnotherServerHasFailed(String path) throws Exception {
			for (int run = 1; run <= 2; run++) {
				try (RawClient client = new RawClient(this.port)) {
					client.send(path, this.key, "Connection: close\r\n", 0, "").awaitEnd();
				}
				int runs = run;
				await().until(() -> runs("failing " + this.key) >= runs);
			}
			assertThat(runs("failing " + this.key)).isEqualTo(2);
		}

	}

	@Nested
	@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
			properties = "idempotency.http.on-disconnect=cancel")
	@Import(PassedAnswers.class)
	class Cancelled extends Passed {

		@ParameterizedTest
		@ValueSource(strings = { "/passed/array", "/passed/body", "/passed/route", "/passed/stream" })
		void endOfTheWorkIsNotKnown(String path) throws Exception {
			hangUpAndCancel(path);
			Scenario.assertCode(awaitEnd(path), 409, "outcome-unknown");
			assertThat(runs("paid " + this.key)).isEqualTo(1);
			assertThat(runs("cancelled " + this.key)).isEqualTo(1);
		}

	}

}
