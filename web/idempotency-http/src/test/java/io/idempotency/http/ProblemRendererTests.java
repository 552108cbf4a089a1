package io.idempotency.http;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyReusedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

class ProblemRendererTests {

	private static final IdempotencyException REJECTION = new IdempotencyKeyReusedException("op");

	static Stream<Throwable> plumbing() {
		return Stream.of(new CompletionException(REJECTION), new ExecutionException(REJECTION),
				new InvocationTargetException(REJECTION), new UndeclaredThrowableException(REJECTION));
	}

	@ParameterizedTest
	@MethodSource("plumbing")
	void rejectionIsFoundInWhatOnlyWrapsIt(Throwable thrown) {
		assertThat(ProblemRenderer.find(thrown)).isSameAs(REJECTION);
	}

	@Test
	void rejectionIsFoundAsItIs() {
		assertThat(ProblemRenderer.find(REJECTION)).isSameAs(REJECTION);
	}

	@Test
	void exceptionOfTheApplicationHidesItsCause() {
		assertThat(ProblemRenderer.find(new IllegalStateException(REJECTION))).isNull();
		assertThat(ProblemRenderer.find(null)).isNull();
		assertThat(ProblemRenderer.find(new CompletionException("nothing inside", null))).isNull();
	}

	@Test
	void searchEndsAfterManyWrappers() {
		assertThat(ProblemRenderer.find(wrapped(31))).isSameAs(REJECTION);
		assertThat(ProblemRenderer.find(wrapped(32))).isNull();
	}

	private static Throwable wrapped(int times) {
		Throwable wrapped = REJECTION;
		for (int i = 0; i < times; i++) {
			wrapped = new CompletionException(wrapped);
		}
		return wrapped;
	}

}
