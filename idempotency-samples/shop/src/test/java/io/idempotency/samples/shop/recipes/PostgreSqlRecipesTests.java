package io.idempotency.samples.shop.recipes;

import java.io.IOException;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * The same on a real PostgreSQL, whose locks and aborted transactions differ from H2's.
 */
@EnabledOnOs(value = OS.LINUX, architectures = "amd64",
		disabledReason = "The PostgreSQL that the build brings along is for Linux on amd64")
@Requires(Backend.POSTGRESQL)
@DirtiesContext
class PostgreSqlRecipesTests extends RecipesTests {

	private static EmbeddedPostgres server;

	@DynamicPropertySource
	static void startServer(DynamicPropertyRegistry registry) throws IOException {
		server = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start();
		registry.add("spring.datasource.url", () -> server.getJdbcUrl("postgres", "postgres"));
		registry.add("spring.datasource.username", () -> "postgres");
		registry.add("spring.sql.init.mode", () -> "always");
		// The recipes are what is tested here, not the stores.
		registry.add("idempotency.store", () -> "memory");
	}

	@AfterAll
	static void stopServer() throws IOException {
		server.close();
	}

}
