package io.idempotency.graphql;

import java.lang.reflect.Type;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import graphql.ErrorClassification;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import graphql.schema.DataFetchingEnvironment;
import io.idempotency.interceptor.OperationCall.InvocationListener;
import io.idempotency.engine.CallOutcome;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.ParameterizedTypeReference;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;

/**
 * Remembers with the failure of a field the errors that the application's resolvers make
 * of it, so that a replay is the same errors. For one call.
 *
 * @param codec writes the errors
 * @param resolvers the resolvers of the application, in their order
 */
record FieldFailureRecorder(DataFetchingEnvironment environment, ResultCodec codec,
		List<DataFetcherExceptionResolver> resolvers) implements InvocationListener {

	private static final Logger logger = LoggerFactory.getLogger(FieldFailureRecorder.class);

	private static final Type ERRORS = new ParameterizedTypeReference<List<Map<String, @Nullable Object>>>() {
	}.getType();

	private static final String CLASSIFICATION = "classification";

	@Override
	public @Nullable Object run(Run method) throws Throwable {
		return method.proceed();
	}

	@Override
	public CallOutcome returned(CallOutcome ending) {
		return ending;
	}

	@Override
	public boolean isGivenBack() {
		return false;
	}

	@Override
	public @Nullable String told(Throwable failure) {
		try {
			for (DataFetcherExceptionResolver resolver : this.resolvers) {
				@Nullable List<GraphQLError> errors = resolver.resolveException(failure, this.environment).block();
				if (errors != null) {
					StoredResult stored = this.codec.encode(errors.stream().map(GraphQLError::toSpecification).toList(),
							ERRORS);
					return stored.format() + ' ' + Base64.getEncoder().encodeToString(stored.bytes());
				}
			}
		}
		catch (RuntimeException ex) {
			// The application's own code has failed: the failure is remembered without.
			logger.debug("The errors of a failure cannot be remembered", ex);
		}
		return null;
	}

	/**
	 * Creates the errors of a replay.
	 * @param told the text of {@link #told(Throwable)}
	 * @param environment the field that is currently fetched; the errors get its path
	 * @param codec reads the errors
	 */
	@SuppressWarnings("unchecked")
	static List<GraphQLError> errors(String told, DataFetchingEnvironment environment, ResultCodec codec) {
		String[] parts = told.split(" ", 2);
		Object errors = codec.decode(new StoredResult(parts[0], Base64.getDecoder().decode(parts[1])), ERRORS);
		return ((List<Map<String, Object>>) Objects.requireNonNull(errors)).stream()
			.map((error) -> error(error, environment))
			.toList();
	}

	@SuppressWarnings("unchecked")
	private static GraphQLError error(Map<String, Object> error, DataFetchingEnvironment environment) {
		GraphqlErrorBuilder<?> again = GraphqlErrorBuilder.newError(environment)
			.message("%s", String.valueOf(error.get("message")));
		if (error.get("extensions") instanceof Map<?, ?> extensions) {
			again.extensions((Map<String, Object>) extensions);
			if (extensions.get(CLASSIFICATION) instanceof String classification) {
				again.errorType(ErrorClassification.errorClassification(classification));
			}
		}
		return again.build();
	}

}
