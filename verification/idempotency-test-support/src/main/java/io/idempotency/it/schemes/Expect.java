package io.idempotency.it.schemes;

import io.idempotency.it.client.Answer;

import static org.assertj.core.api.Assertions.assertThat;

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

}
