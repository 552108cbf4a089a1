package io.idempotency.interceptor;

import io.idempotency.interceptor.ProblemProperties.FailureStatus;
import org.junit.jupiter.api.Test;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;

class FailureStatusTests {

	@Test
	void theStatusIsWhatSpringWouldAnswer() {
		assertThat(FailureStatus.of(new Declined())).isEqualTo(402);
		assertThat(FailureStatus.of(new DeclinedForGood())).isEqualTo(402);
		assertThat(FailureStatus.of(new IllegalStateException(new Declined()))).isEqualTo(402);
		assertThat(FailureStatus.of(new ResponseStatusException(HttpStatus.GONE))).isEqualTo(410);
		assertThat(FailureStatus.of(new IllegalStateException())).isZero();
	}

	@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
	static class Declined extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	static class DeclinedForGood extends Declined {

		private static final long serialVersionUID = 1L;

	}

}
