package io.idempotency.graphql;

import java.security.Principal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import graphql.execution.ExecutionStepInfo;
import graphql.execution.directives.QueryAppliedDirectiveArgument;
import graphql.schema.DataFetchingEnvironment;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.interceptor.RequestValues.BodyPointers;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.codec.ResultCodec;
import org.jspecify.annotations.Nullable;

/**
 * The values of one field and of the request that contains it. The arguments are the
 * coerced arguments of GraphQL, so literals in the document and variables are equivalent.
 * Not thread-safe.
 */
final class FieldValues implements RequestValues {

	private static final String ALGORITHM = "field1";

	private static final String DIRECTIVE = "idempotent";

	private static final String KEY = "key";

	private final DataFetchingEnvironment environment;

	private final @Nullable GraphQlRequestSnapshot request;

	FieldValues(DataFetchingEnvironment environment) {
		this.environment = environment;
		this.request = environment.getGraphQlContext().get(GraphQlRequestSnapshot.class);
	}

	@Override
	public @Nullable String header(String name) {
		List<String> values = headers(name);
		return values.isEmpty() ? null : values.get(0);
	}

	@Override
	public List<String> headers(String name) {
		return (this.request != null) ? this.request.headers(name) : List.of();
	}

	@Override
	public @Nullable String param(String name) {
		return (this.request != null) ? this.request.param(name) : null;
	}

	@Override
	public @Nullable Principal principal() {
		return (this.request != null) ? this.request.principal() : null;
	}

	/**
	 * Returns a value of the arguments.
	 * @param pointer a JSON Pointer (RFC 6901), or the name of an argument
	 */
	@Override
	public @Nullable Object body(String pointer) {
		Map<String, Object> arguments = this.environment.getArguments();
		@Nullable Object value = pointer.startsWith("/") ? BodyPointers.find(arguments, pointer) : arguments.get(pointer);
		if (value instanceof Map<?, ?> || value instanceof Collection<?>) {
			throw new IllegalArgumentException("It is a list or an input object");
		}
		return value;
	}

	/**
	 * Returns the keys in directives of the field, which may have the directive twice.
	 */
	List<Object> keysOfDirective() {
		return this.environment.getQueryDirectives()
			.getImmediateAppliedDirective(DIRECTIVE)
			.stream()
			.map((directive) -> directive.getArgument(KEY))
			.filter(Objects::nonNull)
			.map(QueryAppliedDirectiveArgument::<@Nullable Object>getValue)
			.filter(Objects::nonNull)
			.toList();
	}

	/** Returns the path of the field in the response, with the aliases. */
	String path() {
		return this.environment.getExecutionStepInfo().getPath().toString();
	}

	/**
	 * Returns the caller.
	 * @throws IllegalStateException if the caller cannot be determined
	 */
	Caller caller(IdempotentOperation operation) {
		if (operation.key().scope() != null) {
			return Caller.GLOBAL;
		}
		if (this.request == null) {
			throw GraphQlRequestSnapshot.unknownCaller(operation);
		}
		return this.request.caller(operation);
	}

	/**
	 * Creates the fingerprint of the field and of its parents: the effect of a mutation
	 * may depend on the arguments of its parent.
	 * @param byPath whether the position of the field in the document is compared
	 */
	Fingerprint fingerprint(ResultCodec codec, boolean byPath) {
		Fingerprint.Builder fingerprint = Fingerprint.of(ALGORITHM).add(byPath ? path() : null);
		for (ExecutionStepInfo step = this.environment.getExecutionStepInfo(); step != null
				&& !step.getPath().isRootPath(); step = step.getParent()) {
			if (step.getPath().isListSegment()) {
				fingerprint.add(String.valueOf(step.getPath().getSegmentIndex()));
			}
			else {
				fingerprint.add(step.getFieldDefinition().getName()).add(codec.comparable(step.getArguments()));
			}
		}
		return fingerprint.build();
	}

}
