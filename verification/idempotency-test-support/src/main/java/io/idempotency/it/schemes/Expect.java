package io.idempotency.it.schemes;

import java.util.concurrent.Callable;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.it.client.Answer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static java.util.concurrent.TimeUnit.MINUTES;

/** What a scheme is expected to answer. */
final class Expect {

	private Expect() {
	}

	static void problem(Answer answer, int status, String code) {
		assertThat(answer.status()).as("%s", answer).isEqualTo(status);
		assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
		assertThat(answer.text()).contains("\"type\":\"urn:idempotency:" + code + "\"")
			.contains("\"code\":\"" + code + "\"");
	}

	static void inProgress(Answer answer) {
		problem(answer, 409, "in-progress");
		assertThat(Integer.parseInt(String.valueOf(answer.header("Retry-After")))).isPositive();
	}

	static void executed(Answer answer, String body) {
		executed(answer, 200, body);
	}

	static void executed(Answer answer, int status, String body) {
		assertThat(answer.text()).as("%s", answer).isEqualTo(body);
		assertThat(answer.status()).isEqualTo(status);
		assertThat(answer.replayed()).isFalse();
	}

	static void replayed(Answer answer, String body) {
		replayed(answer, 200, body);
	}

	static void replayed(Answer answer, int status, String body) {
		assertThat(answer.text()).as("%s", answer).isEqualTo(body);
		assertThat(answer.status()).isEqualTo(status);
		assertThat(answer.replayed()).isTrue();
	}

	static int attempts(Answer answer) {
		return Integer.parseInt(answer.text().replaceFirst("(?s).*\"attempts\":(\\d+).*", "$1"));
	}

	/** Asks until the lease of an owner that was cut off is over. */
	static Answer afterTheLease(Callable<Answer> call) {
		return await().atMost(1, MINUTES).until(call, (answer) -> !answer.text().contains("\"code\":\"in-progress\""));
	}

	/** Asks until the lease of an owner that was cut off is over. */
	static String resultAfterTheLease(Callable<String> call) {
		return await().atMost(1, MINUTES)
			.ignoreException(IdempotencyInProgressException.class)
			.until(call, (result) -> true);
	}

}
