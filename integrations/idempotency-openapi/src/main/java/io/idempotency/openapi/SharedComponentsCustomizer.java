package io.idempotency.openapi;

import java.util.List;

import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import org.jspecify.annotations.Nullable;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;

/**
 * Adds the shared components of guarded operations, and the endpoint that issues tokens,
 * to each document that has guarded operations.
 */
final class SharedComponentsCustomizer implements GlobalOpenApiCustomizer {

	private final String typeBase;

	private final @Nullable String tokenPath;

	/**
	 * Creates the customizer.
	 * @param typeBase the prefix of the type of a problem
	 * @param tokenPath the path of the endpoint that issues tokens, {@code null} without
	 * that endpoint
	 */
	SharedComponentsCustomizer(String typeBase, @Nullable String tokenPath) {
		this.typeBase = typeBase;
		this.tokenPath = tokenPath;
	}

	@Override
	public void customise(OpenAPI document) {
		if (document.getPaths() == null || !hasGuardedOperation(document)) {
			return;
		}
		if (document.getComponents() == null) {
			document.setComponents(new Components());
		}
		document.getComponents()
			.addSchemas(DocumentParts.PROBLEM, DocumentParts.problem(this.typeBase))
			.addHeaders(DocumentParts.REPLAYED, DocumentParts.replayed())
			.addHeaders(DocumentParts.RETRY_AFTER, DocumentParts.retryAfter());
		if (this.tokenPath != null && !document.getPaths().containsKey(this.tokenPath)) {
			document.getPaths().addPathItem(this.tokenPath, new PathItem().post(issue()));
		}
	}

	private static boolean hasGuardedOperation(OpenAPI document) {
		return document.getPaths()
			.values()
			.stream()
			.flatMap((path) -> path.readOperations().stream())
			.filter((operation) -> operation.getResponses() != null)
			.flatMap((operation) -> operation.getResponses().values().stream())
			.anyMatch((response) -> response.getContent() != null && DocumentParts.isProblem(response.getContent()));
	}

	private static Operation issue() {
		Schema<Object> token = DocumentParts.schema("object", "A key issued by this service.");
		token.addProperty("token", DocumentParts.schema("string", "The key."));
		token.addProperty("expiresAt",
				DocumentParts.schema("string", "Time until which the key can be used.").format("date-time"));
		token.setRequired(List.of("token", "expiresAt"));
		Content issued = new Content().addMediaType("application/json", new MediaType().schema(token));
		Content rejected = new Content();
		DocumentParts.addProblem(rejected);
		ApiResponses responses = new ApiResponses();
		responses.addApiResponse("201",
				new ApiResponse().description("A new key for this caller only.").content(issued));
		responses.addApiResponse("503",
				new ApiResponse().description(DocumentedProblem.STORE_UNAVAILABLE.describe())
					.content(rejected)
					.addHeaderObject("Retry-After", DocumentParts.reference(DocumentParts.RETRY_AFTER)));
		return new Operation().operationId("issueIdempotencyToken")
			.addTagsItem("idempotency-tokens")
			.summary("Issues a key for one request")
			.responses(responses);
	}

}
