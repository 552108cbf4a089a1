package io.idempotency.openapi;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.idempotency.IdempotencyMode;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.http.HttpSettings;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.parameters.HeaderParameter;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import org.jspecify.annotations.Nullable;

/**
 * Documents guarded operations for their clients: where the key goes, which responses may
 * be replays, and which problems may occur. Documentation of the application is not
 * overwritten. Completing a document again changes nothing.
 */
final class OperationDocument {

	private final int maxLength;

	private final String tokenPath;

	private final HttpSettings settings;

	OperationDocument(int maxLength, String tokenPath, HttpSettings settings) {
		this.maxLength = maxLength;
		this.tokenPath = tokenPath;
		this.settings = settings;
	}

	void complete(Operation operation, IdempotentOperation guarded) {
		if (guarded.key().source() instanceof KeySource.Header header) {
			describeHeader(operation, header.name(), guarded);
		}
		else {
			operation.setDescription(joined(operation.getDescription(), sentences(guarded)));
		}
		ApiResponses responses = (operation.getResponses() != null) ? operation.getResponses() : new ApiResponses();
		operation.setResponses(responses);
		if (guarded.options().mode() == IdempotencyMode.REPLAY) {
			responses.replaceAll(this::replayable);
		}
		Map<Integer, String> problems = new TreeMap<>();
		for (DocumentedProblem problem : DocumentedProblem.of(guarded, this.settings)) {
			problems.merge(problem.status(), problem.describe(), (first, next) -> first + "\n\n" + next);
			responses.compute(Integer.toString(problem.status()), (status, response) -> problem(response, problem));
		}
		problems.forEach((status, text) -> responses.computeIfPresent(status.toString(),
				(code, response) -> described(response, text)));
	}

	private void describeHeader(Operation operation, String name, IdempotentOperation guarded) {
		Parameter parameter = declared(operation, name);
		if (parameter == null) {
			parameter = new HeaderParameter().name(name);
			operation.addParametersItem(parameter);
		}
		Schema<Object> schema = DocumentParts.schema("string", null);
		schema.setMinLength(1);
		schema.setMaxLength(this.maxLength);
		parameter.required(guarded.key().required())
			.schema(schema)
			.description(joined(parameter.getDescription(), sentences(guarded)));
	}

	/** Returns the parameter of a handler that reads the header itself. */
	private static @Nullable Parameter declared(Operation operation, String name) {
		List<Parameter> parameters = operation.getParameters();
		return (parameters == null) ? null : parameters.stream()
			.filter((parameter) -> "header".equals(parameter.getIn()) && name.equalsIgnoreCase(parameter.getName()))
			.findFirst()
			.orElse(null);
	}

	private String sentences(IdempotentOperation guarded) {
		StringBuilder text = new StringBuilder();
		if (guarded.key().source() instanceof KeySource.Body body) {
			text.append("The key of a request is at `").append(body.pointer()).append("` of its body. ");
		}
		text.append(switch (guarded.options().mode()) {
			case REPLAY ->
				"A repeated request with the same key is not executed again: it receives the first response.";
			case REJECT -> "A repeated request with the same key is rejected.";
			case LOCK -> "A request is rejected while another request with the same key is in progress.";
		});
		if (guarded.key().token()) {
			text.append(" The key is a token from `POST ").append(this.tokenPath).append("`.");
		}
		else if (guarded.key().source() instanceof KeySource.Header) {
			text.append(" Choose a new key for each new request, e.g. a UUID, in printable ASCII without spaces.");
		}
		if (!guarded.key().required()) {
			text.append(" Without a key every request is executed.");
		}
		return text.toString();
	}

	private ApiResponse replayable(String status, ApiResponse response) {
		boolean numeric = status.matches("[2-4]\\d\\d");
		boolean rejected = response.getContent() != null && DocumentParts.isProblem(response.getContent());
		if (!numeric || rejected || this.settings.releaseOn().contains(Integer.parseInt(status))
				|| response.get$ref() != null) {
			return response;
		}
		ApiResponse copy = copy(response);
		copy.getHeaders().put(this.settings.replayedHeader(), DocumentParts.reference(DocumentParts.REPLAYED));
		return copy;
	}

	private static ApiResponse problem(@Nullable ApiResponse response, DocumentedProblem problem) {
		if (response != null && response.get$ref() != null) {
			return response;
		}
		ApiResponse copy = copy((response != null) ? response : new ApiResponse());
		DocumentParts.addProblem(copy.getContent());
		if (problem.hasRetryAfter()) {
			copy.getHeaders().putIfAbsent("Retry-After", DocumentParts.reference(DocumentParts.RETRY_AFTER));
		}
		return copy;
	}

	/**
	 * Copies a response, because all operations share the responses of an exception
	 * handler.
	 */
	private static ApiResponse copy(ApiResponse response) {
		Content content = new Content();
		if (response.getContent() != null) {
			content.putAll(response.getContent());
		}
		Map<String, Header> headers = new LinkedHashMap<>();
		if (response.getHeaders() != null) {
			headers.putAll(response.getHeaders());
		}
		ApiResponse copy = new ApiResponse().description(response.getDescription()).headers(headers);
		copy.setContent(content);
		copy.setLinks(response.getLinks());
		copy.setExtensions(response.getExtensions());
		return copy;
	}

	private static ApiResponse described(ApiResponse response, String text) {
		if (response.get$ref() == null) {
			response.setDescription(joined(response.getDescription(), text));
		}
		return response;
	}

	private static String joined(@Nullable String before, String text) {
		if (before == null || before.isBlank() || before.equals(text)) {
			return text;
		}
		return before.contains(text) ? before : before + "\n\n" + text;
	}

}
