package io.idempotency.samples.shop.recipes;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;

import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * The same on a real PostgreSQL, whose locks and aborted transactions differ from H2's.
 */
@Requires(Backend.POSTGRESQL)
@DirtiesContext
class PostgreSqlRecipesTests extends RecipesTests {

	@DynamicPropertySource
	static void startServer(DynamicPropertyRegistry registry) {
		SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		registry.add("spring.datasource.url", database::url);
		registry.add("spring.datasource.username", database::user);
		registry.add("spring.sql.init.mode", () -> "always");
		// The recipes are what is tested here, not the stores.
		registry.add("idempotency.store", () -> "memory");
	}

}
