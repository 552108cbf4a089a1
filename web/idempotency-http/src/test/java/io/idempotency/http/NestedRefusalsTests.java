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

class NestedRefusalsTests {

	private static final IdempotencyException REFUSAL = new IdempotencyKeyReusedException("op");

	static Stream<Throwable> plumbing() {
		return Stream.of(new CompletionException(REFUSAL), new ExecutionException(REFUSAL),
				new InvocationTargetException(REFUSAL), new UndeclaredThrowableException(REFUSAL));
	}

	@ParameterizedTest
	@MethodSource("plumbing")
	void refusalIsFoundInWhatOnlyWrapsIt(Throwable thrown) {
		assertThat(NestedRefusals.find(thrown)).isSameAs(REFUSAL);
	}

	@Test
	void refusalIsFoundAsItIs() {
		assertThat(NestedRefusals.find(REFUSAL)).isSameAs(REFUSAL);
	}

	@Test
	void exceptionOfTheApplicationHidesItsCause() {
		assertThat(NestedRefusals.find(new IllegalStateException(REFUSAL))).isNull();
		assertThat(NestedRefusals.find(null)).isNull();
		assertThat(NestedRefusals.find(new CompletionException("nothing inside", null))).isNull();
	}

	@Test
	void searchEndsAfterManyWrappers() {
		assertThat(NestedRefusals.find(wrapped(31))).isSameAs(REFUSAL);
		assertThat(NestedRefusals.find(wrapped(32))).isNull();
	}

	private static Throwable wrapped(int times) {
		Throwable wrapped = REFUSAL;
		for (int i = 0; i < times; i++) {
			wrapped = new CompletionException(wrapped);
		}
		return wrapped;
	}

}
