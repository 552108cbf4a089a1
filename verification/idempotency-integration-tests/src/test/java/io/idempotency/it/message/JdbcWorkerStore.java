package io.idempotency.it.message;

import java.util.List;

import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.SqlDatabase;

/** A database of PostgreSQL for the consumers of one test. */
final class JdbcWorkerStore implements WorkerStore {

	private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

	private final JdbcEffectLog effects = new JdbcEffectLog(this.database.jdbc());

	JdbcWorkerStore() {
		this.effects.createTable();
	}

	@Override
	public List<String> properties() {
		return List.of("idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=always",
				"test.database.url=" + this.database.url(), "test.database.user=" + this.database.user());
	}

	@Override
	public EffectLog effects() {
		return this.effects;
	}

	@Override
	public void close() {
		// The server is that of all tests, and ends with this JVM.
	}

}
