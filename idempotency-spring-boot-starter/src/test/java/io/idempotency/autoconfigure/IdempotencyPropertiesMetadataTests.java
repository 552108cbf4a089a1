package io.idempotency.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** What an IDE offers while somebody writes {@code application.yml}. */
class IdempotencyPropertiesMetadataTests {

	private static final List<String> NAMES = List.of("idempotency.enabled", "idempotency.namespace",
			"idempotency.node", "idempotency.store", "idempotency.retention", "idempotency.lease",
			"idempotency.renewal", "idempotency.conflict", "idempotency.wait-timeout", "idempotency.max-waiters",
			"idempotency.max-detached-calls", "idempotency.max-detached-duration", "idempotency.scope",
			"idempotency.fingerprint", "idempotency.on-failure", "idempotency.on-store-failure",
			"idempotency.store-timeout", "idempotency.shutdown-timeout", "idempotency.advisor-order",
			"idempotency.key.header", "idempotency.key.max-length", "idempotency.http.filter-order",
			"idempotency.http.replayed-header", "idempotency.http.max-request-size",
			"idempotency.http.max-response-size", "idempotency.http.on-disconnect", "idempotency.http.release-on",
			"idempotency.http.excluded-headers", "idempotency.http.scope-headers", "idempotency.http.anonymous",
			"idempotency.http.fingerprint-headers", "idempotency.http.ignored-parameters",
			"idempotency.http.retention-on-error", "idempotency.http.problem-type-base", "idempotency.token.enabled",
			"idempotency.token.path", "idempotency.token.ttl", "idempotency.redis.key-prefix",
			"idempotency.jdbc.pool-size", "idempotency.jdbc.table-name", "idempotency.jdbc.initialize-schema",
			"idempotency.jdbc.cleanup.enabled", "idempotency.jdbc.cleanup.interval",
			"idempotency.jdbc.cleanup.batch-size", "idempotency.memory.max-size", "idempotency.encryption.keys",
			"idempotency.encryption.active-key", "idempotency.encryption.allow-unencrypted-reads",
			"idempotency.admin.write-operations");

	/** None, or computed at the start: the description says how. */
	private static final Set<String> WITHOUT_DEFAULT = Set.of("idempotency.memory.max-size",
			"idempotency.http.retention-on-error", "idempotency.namespace", "idempotency.node",
			"idempotency.encryption.keys", "idempotency.encryption.active-key");

	@Test
	void namesEveryPropertyAndNoOther() throws IOException {
		List<String> names = new ArrayList<>();
		properties().forEach((property) -> names.add(property.get("name").asText()));
		assertThat(names).containsExactlyInAnyOrderElementsOf(NAMES);
	}

	@Test
	void everyPropertyHasADescriptionAndADefault() throws IOException {
		assertThat(properties()).allSatisfy((property) -> {
			assertThat(property.path("description").asText()).as(property.get("name").asText())
				.matches("(?s)[A-Z].{10,}\\.");
			assertThat(property.has("defaultValue") || WITHOUT_DEFAULT.contains(property.get("name").asText()))
				.as(property.get("name").asText())
				.isTrue();
		});
	}

	@Test
	void healthOfTheStoreCanBeLeftOut() throws IOException {
		assertThat(metadata().get("properties"))
			.filteredOn((property) -> property.get("name").asText().equals("management.health.idempotency.enabled"))
			.singleElement()
			.satisfies((property) -> {
				assertThat(property.get("type").asText()).isEqualTo("java.lang.Boolean");
				assertThat(property.get("description").asText()).matches("[A-Z].{10,}\\.");
				assertThat(property.get("defaultValue").asBoolean()).isTrue();
			});
	}

	@Test
	void everyDurationSaysWhatItIsWithoutAUnit() throws IOException {
		List<String> descriptions = new ArrayList<>();
		properties().forEach((property) -> {
			if (property.path("type").asText().equals("java.time.Duration")) {
				descriptions.add(property.get("description").asText());
			}
		});
		assertThat(descriptions).hasSize(9)
			.allSatisfy((description) -> assertThat(description).endsWith("The default unit is seconds."));
	}

	@Test
	void theDefaultsItTellsAreTheOnesThatApply() throws IOException {
		Map<String, Object> told = new HashMap<>();
		properties().forEach((property) -> {
			JsonNode value = property.path("defaultValue");
			if (value.isMissingNode()) {
				return;
			}
			if (!value.isArray()) {
				told.put(property.get("name").asText(), value.asText());
			}
			for (int i = 0; i < value.size(); i++) {
				told.put(property.get("name").asText() + "[" + i + "]", value.get(i).asText());
			}
		});
		assertThat(bind(told)).isEqualTo(bind(Map.of()));
	}

	@Test
	void everyHintBelongsToAProperty() throws IOException {
		List<String> hinted = new ArrayList<>();
		metadata().get("hints").forEach((hint) -> hinted.add(hint.get("name").asText()));
		assertThat(hinted).isNotEmpty().isSubsetOf(NAMES);
	}

	/** A request id is another one in each attempt, so every retry would run. */
	@Test
	void noRequestIdIsOfferedAsAKey() throws IOException {
		List<String> headers = new ArrayList<>();
		metadata().get("hints").forEach((hint) -> {
			if (hint.get("name").asText().equals("idempotency.key.header")) {
				hint.get("values").forEach((value) -> headers.add(value.get("value").asText()));
			}
		});
		assertThat(headers).containsExactly("Idempotency-Key", "X-Idempotency-Key");
	}

	private static IdempotencyProperties bind(Map<String, ?> values) {
		return new Binder(new MapConfigurationPropertySource(values)).bindOrCreate("idempotency",
				IdempotencyProperties.class);
	}

	/** Ours; those of the endpoint are Spring Boot's. */
	private static List<JsonNode> properties() throws IOException {
		List<JsonNode> ours = new ArrayList<>();
		metadata().get("properties").forEach((property) -> {
			if (property.get("name").asText().startsWith("idempotency.")) {
				ours.add(property);
			}
		});
		return ours;
	}

	private static JsonNode metadata() throws IOException {
		// The class path has the metadata of every jar; ours is the one beside our
		// classes.
		String location = IdempotencyProperties.class.getProtectionDomain().getCodeSource().getLocation()
				+ "META-INF/spring-configuration-metadata.json";
		try (InputStream in = URI.create(location).toURL().openStream()) {
			return new ObjectMapper().readTree(in);
		}
	}

}
