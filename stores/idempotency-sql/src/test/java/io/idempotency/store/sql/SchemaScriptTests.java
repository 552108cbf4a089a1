package io.idempotency.store.sql;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

class SchemaScriptTests {

	/** Flyway needs a directory for each of them. */
	@Test
	void createsSameTableOnMySqlAndMariaDb() throws IOException {
		assertThat(script("mariadb")).isEqualTo(script("mysql"));
	}

	@Test
	void changeLogHasScriptOfEachVendor() throws IOException {
		assertThat(text("liquibase/idempotency.xml")).contains(path("postgresql"), path("mysql"), path("mariadb"),
				path("h2"));
	}

	private static String script(String vendor) throws IOException {
		return text(path(vendor).replace("io/idempotency/store/sql/", ""));
	}

	private static String path(String vendor) {
		return "io/idempotency/store/sql/schema/" + vendor + "/R__idempotency_record.sql";
	}

	private static String text(String resource) throws IOException {
		return new ClassPathResource(resource, Dialect.class).getContentAsString(StandardCharsets.UTF_8);
	}

}
