package io.idempotency.it.shutdown;

import java.util.List;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.StoreAlone;

/**
 * Outstanding completions of an application whose records are in PostgreSQL.
 */
@Nightly
@StoreAlone
@Requires(Backend.POSTGRESQL)
class JdbcTerminationTests extends TerminationContract {

	private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

	@Override
	int storePort() {
		return this.database.port();
	}

	@Override
	List<String> properties(int port) {
		SqlDatabase seen = this.database.through(port);
		return List.of("idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=always",
				"test.database.url=" + seen.url(), "test.database.user=" + seen.user());
	}

}
