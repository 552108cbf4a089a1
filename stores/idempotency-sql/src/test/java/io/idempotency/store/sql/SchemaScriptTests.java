package io.idempotency.store.sql;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

class SchemaScriptTests {

	private static final List<String> VENDORS = List.of("postgresql", "mysql", "mariadb", "h2");

	@Test
	void flywayFilesHaveTheSameDdl() {
		for (String vendor : VENDORS) {
			assertThat(ddl("flyway/" + vendor + "/R__idempotency_record.sql")).as(vendor)
				.isEqualTo(ddl("schema-" + vendor + ".sql"));
		}
	}

	@Test
	void liquibaseFileHasTheSameDdl() {
		Map<String, String> changeSets = List.of(text("liquibase/idempotency.sql").split("--changeset "))
			.stream()
			.skip(1)
			.collect(Collectors.toMap((text) -> text.lines().findFirst().orElseThrow().split("dbms:")[1].trim(),
					(text) -> normalized(text.substring(text.indexOf('\n')))));
		assertThat(changeSets).containsOnlyKeys(VENDORS);
		changeSets.forEach((vendor, ddl) -> assertThat(ddl).as(vendor).isEqualTo(ddl("schema-" + vendor + ".sql")));
	}

	private static String ddl(String resource) {
		return normalized(text(resource));
	}

	private static String normalized(String text) {
		return text.lines()
			.filter((line) -> !line.startsWith("--") && !line.isBlank())
			.collect(Collectors.joining("\n"));
	}

	private static String text(String resource) {
		try {
			return new ClassPathResource(resource, Dialect.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
