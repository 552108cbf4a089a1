package io.idempotency.samples.reactive;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.StoreAlone;

import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** With the profile for PostgreSQL, whose driver does not block. */
@Nightly
@StoreAlone
@Requires(Backend.POSTGRESQL)
@ActiveProfiles(profiles = "postgresql", inheritProfiles = false)
@DirtiesContext
class ReactiveShopOnPostgreSqlTests extends ReactiveShopOnR2dbcTests {

	@DynamicPropertySource
	static void startServer(DynamicPropertyRegistry registry) {
		SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		registry.add("spring.r2dbc.url", () -> database.url().replaceFirst("^jdbc:", "r2dbc:"));
		registry.add("spring.r2dbc.username", database::user);
	}

}
