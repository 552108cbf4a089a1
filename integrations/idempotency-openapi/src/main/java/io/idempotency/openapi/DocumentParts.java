package io.idempotency.openapi;

import java.util.Arrays;
import java.util.List;

import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import org.jspecify.annotations.Nullable;

/** The parts that all guarded operations of a document share, and references to them. */
final class DocumentParts {

	static final String PROBLEM = "IdempotencyProblem";

	static final String REPLAYED = "IdempotentReplayed";

	static final String RETRY_AFTER = "IdempotencyRetryAfter";

	private static final String PROBLEM_JSON = "application/problem+json";

	private static final String PROBLEM_REFERENCE = "#/components/schemas/" + PROBLEM;

	private DocumentParts() {
	}

	/**
	 * Returns a schema that is written alike by OpenAPI 3.0, with a type, and 3.1, with
	 * types.
	 */
	static Schema<Object> schema(String type, @Nullable String description) {
		Schema<Object> schema = new Schema<>();
		schema.setType(type);
		schema.addType(type);
		schema.setDescription(description);
		return schema;
	}

	/** Returns the problem document of every rejection: RFC 9457 with a code. */
	static Schema<Object> problem(String typeBase) {
		Schema<Object> code = schema("string", "Machine-readable error code.");
		code.setEnum(Arrays.stream(DocumentedProblem.values()).<Object>map(DocumentedProblem::code).toList());
		Schema<Object> problem = schema("object", "Reason why a request was not executed (RFC 9457).");
		problem.addProperty("type", schema("string", typeBase + " and the code.").format("uri"));
		problem.addProperty("title", schema("string", "Summary, the same for all problems with this code."));
		problem.addProperty("status", schema("integer", "HTTP status code.").format("int32"));
		problem.addProperty("detail", schema("string", "Human-readable state and instruction for the client."));
		problem.addProperty("instance", schema("string", "Path of the request.").format("uri"));
		problem.addProperty("code", code);
		Schema<Object> retry = schema("string",
				"Retry advice: retry the same request with the same key, use a new key, do not retry and look up "
						+ "the outcome, or correct the request.");
		retry.setEnum(List.of("same-key", "new-key", "never", "fix-request"));
		problem.addProperty("retry", retry);
		problem.addProperty("attempts",
				schema("integer", "With `duplicate`: number of requests with this key.").format("int64"));
		problem.setRequired(List.of("type", "title", "status", "detail", "code", "retry"));
		return problem;
	}

	static Header replayed() {
		Schema<Object> always = schema("string", "Always true.");
		always.setEnum(List.of("true"));
		return new Header().description("The request was executed before, and this is its original response.")
			.schema(always);
	}

	static Header retryAfter() {
		Schema<Object> seconds = schema("integer", "Whole seconds, at least 1.");
		seconds.setFormat("int32");
		return new Header().description("Time to wait before the request is retried.").schema(seconds);
	}

	static Header reference(String header) {
		return new Header().$ref("#/components/headers/" + header);
	}

	/**
	 * Adds the problem to the content of a response, unless the application documents its
	 * own.
	 */
	static void addProblem(Content content) {
		if (!content.containsKey(PROBLEM_JSON)) {
			content.addMediaType(PROBLEM_JSON, new MediaType().schema(new Schema<Object>().$ref(PROBLEM_REFERENCE)));
		}
	}

	/** Returns whether the content of a response refers to the shared problem. */
	static boolean isProblem(Content content) {
		MediaType problem = content.get(PROBLEM_JSON);
		return problem != null && problem.getSchema() != null
				&& PROBLEM_REFERENCE.equals(problem.getSchema().get$ref());
	}

}
