package io.idempotency.graphql;

import java.util.List;

import graphql.ErrorClassification;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import graphql.schema.DataFetchingEnvironment;
import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.interceptor.ProblemProperties;
import io.idempotency.codec.ResultCodec;
import io.idempotency.engine.ValueAction.ReportedFailure;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.Ordered;
import org.springframework.graphql.execution.DataFetcherExceptionResolverAdapter;
import org.springframework.graphql.execution.ErrorType;

/**
 * Converts a rejection of the library to a GraphQL error with advice for the client. The
 * messages of the exceptions name operations and properties, so they are for the log.
 * Returns the original errors when a stored failure is replayed. Thread-safe.
 * <p>
 * A resolver of the application for all exceptions would turn every rejection into the
 * same error, so this one comes first. A {@code @GraphQlExceptionHandler} in the
 * controller comes before all resolvers.
 */
final class RejectionExceptionResolver extends DataFetcherExceptionResolverAdapter implements Ordered {

	private static final Logger log = LoggerFactory.getLogger(RejectionExceptionResolver.class);

	private static final ErrorClassification CONFLICT = ErrorClassification.errorClassification("CONFLICT");

	private static final ErrorClassification UNAVAILABLE = ErrorClassification.errorClassification("UNAVAILABLE");

	private final ResultCodec codec;

	/**
	 * Creates the resolver.
	 * @param codec reads the errors of remembered failures
	 */
	RejectionExceptionResolver(ResultCodec codec) {
		this.codec = codec;
	}

	@Override
	protected @Nullable List<GraphQLError> resolveToMultipleErrors(Throwable thrown,
			DataFetchingEnvironment environment) {
		return (thrown instanceof RememberedFailureException failure
				&& failure.getCause() instanceof ReportedFailure told)
						? FieldFailureRecorder.errors(told.text(), environment, this.codec)
						: super.resolveToMultipleErrors(thrown, environment);
	}

	@Override
	protected @Nullable GraphQLError resolveToSingleError(Throwable thrown, DataFetchingEnvironment environment) {
		if (!(thrown instanceof IdempotencyException rejection)) {
			return null;
		}
		log.debug("Rejected a call of '{}' with {}: {}", rejection.operation(), rejection.code(),
				rejection.getMessage());
		return GraphqlErrorBuilder.newError(environment)
			.errorType(classification(rejection))
			.message("%s", rejection.title() + ". " + advice(rejection) + ".")
			.extensions(ProblemProperties.of(rejection))
			.build();
	}

	private static ErrorClassification classification(IdempotencyException rejection) {
		return switch (rejection.status()) {
			case 401 -> ErrorType.UNAUTHORIZED;
			case 409 -> CONFLICT;
			case 503 -> UNAVAILABLE;
			default -> ErrorType.BAD_REQUEST;
		};
	}

	private static String advice(IdempotencyException rejection) {
		if (rejection instanceof IdempotencyKeyInvalidException) {
			// This message only describes the fault of the request.
			return String.valueOf(rejection.getMessage());
		}
		if (rejection instanceof IdempotencyCallerUnknownException) {
			return "Log in, and send it with the same key";
		}
		boolean unknown = rejection instanceof IdempotencyStoreUnavailableException unavailable
				&& unavailable.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED;
		return switch (rejection.retry()) {
			case SAME_KEY -> (unknown ? "The outcome is unknown. " : "") + "Wait retryAfter seconds, then retry it "
					+ "unchanged with the same key";
			case NEW_KEY -> "Use a new key, or retry the first request unchanged";
			case NEVER -> "Do not send it again. Look up the result";
			case FIX_REQUEST -> "Correct the request and send it with a key. If you retry it, use the same key";
		};
	}

	@Override
	public int getOrder() {
		return 0;
	}

}
