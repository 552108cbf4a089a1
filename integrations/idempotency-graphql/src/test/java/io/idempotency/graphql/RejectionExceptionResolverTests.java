package io.idempotency.graphql;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import graphql.GraphQLError;
import graphql.execution.ExecutionStepInfo;
import graphql.execution.ResultPath;
import graphql.language.Field;
import graphql.schema.DataFetchingEnvironment;
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
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Each rejection as an error of GraphQL. */
class RejectionExceptionResolverTests {

	private static final String OPERATION = "com.example.Secret.pay";

	private final DataFetchingEnvironment environment = environment();

	private static DataFetchingEnvironment environment() {
		DataFetchingEnvironment environment = mock();
		ExecutionStepInfo step = mock();
		given(step.getPath()).willReturn(ResultPath.parse("/pay"));
		given(environment.getExecutionStepInfo()).willReturn(step);
		given(environment.getField()).willReturn(Field.newField("pay").build());
		return environment;
	}

	static Stream<Arguments> rejections() {
		return Stream.of(
				rejection(new IdempotencyKeyMissingException(OPERATION, OPERATION), "BAD_REQUEST", "fix-request"),
				rejection(new IdempotencyKeyInvalidException(OPERATION, "Two keys"), "BAD_REQUEST", "new-key"),
				rejection(new IdempotencyCallerUnknownException(OPERATION), "UNAUTHORIZED", "fix-request"),
				rejection(new IdempotencyTokenUnknownException(OPERATION), "BAD_REQUEST", "new-key"),
				rejection(new IdempotencyKeyReusedException(OPERATION), "BAD_REQUEST", "new-key"),
				rejection(new IdempotencyBodyTooLargeException(OPERATION, 5), "BAD_REQUEST", "fix-request"),
				rejection(new IdempotencyInProgressException(OPERATION, Duration.ofMillis(1001)), "CONFLICT",
						"same-key", "retryAfter", 2),
				rejection(new IdempotencyDuplicateException(OPERATION, 3), "CONFLICT", "never", "attempts", 3L),
				rejection(new IdempotencyResultUnavailableException(OPERATION), "CONFLICT", "never"),
				rejection(new IdempotencyOutcomeUnknownException(OPERATION), "CONFLICT", "never"),
				rejection(IdempotencyStoreUnavailableException.notExecuted(OPERATION, Duration.ofNanos(1), null),
						"UNAVAILABLE", "same-key", "retryAfter", 1));
	}

	private static Arguments rejection(IdempotencyException rejection, String classification, String retry) {
		return arguments(rejection, classification, Map.of("code", rejection.code(), "retry", retry));
	}

	private static Arguments rejection(IdempotencyException rejection, String classification, String retry, String name,
			Object value) {
		return arguments(rejection, classification, Map.of("code", rejection.code(), "retry", retry, name, value));
	}

	@ParameterizedTest
	@MethodSource("rejections")
	void saysTheCodeAndWhatToDo(IdempotencyException rejection, String classification, Map<String, Object> extensions) {
		List<GraphQLError> errors = new RejectionExceptionResolver(Mockito.mock())
			.resolveException(rejection, this.environment)
			.block();
		assertThat(errors).singleElement().satisfies((error) -> {
			assertThat(error.getErrorType()).hasToString(classification);
			assertThat(error.getExtensions()).isEqualTo(extensions);
			assertThat(error.getPath()).containsExactly("pay");
			assertThat(error.getMessage()).startsWith(rejection.title() + ". ").doesNotContain(OPERATION);
		});
	}

	@Test
	void leavesOtherExceptionsToOthers() {
		assertThat(new RejectionExceptionResolver(Mockito.mock())
			.resolveException(new IllegalStateException(), this.environment)
			.block()).isNull();
	}

}
