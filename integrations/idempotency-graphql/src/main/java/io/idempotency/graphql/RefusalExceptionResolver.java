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
import io.idempotency.interceptor.RefusalMembers;
import io.idempotency.codec.ResultCodec;
import io.idempotency.engine.ValueAction.ToldFailure;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.Ordered;
import org.springframework.graphql.execution.DataFetcherExceptionResolverAdapter;
import org.springframework.graphql.execution.ErrorType;

/**
 * Answers a refusal of the library as an error that says what the client may do. The
 * messages of the exceptions name operations and properties, so they are for the log.
 * Answers the replay of a remembered failure with the errors of the first. Thread-safe.
 * <p>
 * A resolver of the application for all exceptions would turn every refusal into the same
 * error, so this one comes first. A {@code @GraphQlExceptionHandler} in the controller
 * comes before all resolvers.
 */
final class RefusalExceptionResolver extends DataFetcherExceptionResolverAdapter implements Ordered {

	private static final Logger log = LoggerFactory.getLogger(RefusalExceptionResolver.class);

	private static final ErrorClassification CONFLICT = ErrorClassification.errorClassification("CONFLICT");

	private static final ErrorClassification UNAVAILABLE = ErrorClassification.errorClassification("UNAVAILABLE");

	private final ResultCodec codec;

	/**
	 * Creates the resolver.
	 * @param codec reads the errors of remembered failures
	 */
	RefusalExceptionResolver(ResultCodec codec) {
		this.codec = codec;
	}

	@Override
	protected @Nullable List<GraphQLError> resolveToMultipleErrors(Throwable thrown,
			DataFetchingEnvironment environment) {
		return (thrown instanceof RememberedFailureException failure && failure.getCause() instanceof ToldFailure told)
				? FieldFailureRecorder.errors(told.text(), environment, this.codec)
				: super.resolveToMultipleErrors(thrown, environment);
	}

	@Override
	protected @Nullable GraphQLError resolveToSingleError(Throwable thrown, DataFetchingEnvironment environment) {
		if (!(thrown instanceof IdempotencyException refusal)) {
			return null;
		}
		log.debug("Refused a call of '{}' with {}: {}", refusal.operation(), refusal.code(), refusal.getMessage());
		return GraphqlErrorBuilder.newError(environment)
			.errorType(classification(refusal))
			.message("%s", refusal.title() + ": " + advice(refusal))
			.extensions(RefusalMembers.of(refusal))
			.build();
	}

	private static ErrorClassification classification(IdempotencyException refusal) {
		return switch (refusal.status()) {
			case 401 -> ErrorType.UNAUTHORIZED;
			case 409 -> CONFLICT;
			case 503 -> UNAVAILABLE;
			default -> ErrorType.BAD_REQUEST;
		};
	}

	private static String advice(IdempotencyException refusal) {
		if (refusal instanceof IdempotencyKeyInvalidException) {
			// This message only describes the fault of the request.
			return String.valueOf(refusal.getMessage());
		}
		if (refusal instanceof IdempotencyCallerUnknownException) {
			return "log in, and send it with the same key";
		}
		boolean unknown = refusal instanceof IdempotencyStoreUnavailableException unavailable
				&& unavailable.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED;
		return switch (refusal.retry()) {
			case SAME_KEY -> (unknown ? "it is not known whether it was done: " : "")
					+ "repeat it unchanged, with the same key, after as many seconds as retryAfter says";
			case NEW_KEY -> "repeat the first request unchanged, or use a new key for a new one";
			case NEVER -> "do not send it again; look the result up";
			case FIX_REQUEST -> "mend the request and send it with a key, the same one when you repeat it";
		};
	}

	@Override
	public int getOrder() {
		return 0;
	}

}
