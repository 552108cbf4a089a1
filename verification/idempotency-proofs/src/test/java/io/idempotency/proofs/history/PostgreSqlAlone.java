package io.idempotency.proofs.history;

import java.util.List;
import java.util.Map;

import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;

/** A PostgreSQL, which has some of the work, too. */
final class PostgreSqlAlone extends StoreOnLines {

	private final PostgreSqlServer server = PostgreSqlServer.start(PostgreSqlBinary.POSTGRESQL_18);

	private final SqlDatabase database = this.server.newDatabase();

	PostgreSqlAlone() {
		this.database.jdbc().execute(JoinedController.TABLE);
		// Once: a node that starts would wait for the locks of one that stands still, and
		// all others for that node.
		new JdbcSchema(this.database.unpooled(), JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
	}

	@Override
	public String title() {
		return "PostgreSQL " + this.server.binary().version();
	}

	@Override
	public List<Operation> operations() {
		return List.of(Operation.values());
	}

	@Override
	public List<String> properties(String node) {
		SqlDatabase seen = this.database.through(portFor(node));
		return List.of("idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=never",
				"test.database.url=" + seen.url(), "test.database.user=" + seen.user());
	}

	@Override
	public void tellEffects(Journal journal) {
		for (Map<String, Object> row : this.database.jdbc().queryForList("select id, run from effect")) {
			journal.write("effect", row.get("id"), row.get("run"));
		}
	}

	@Override
	int serverPort() {
		return this.server.port();
	}

	@Override
	void pause() {
		this.server.pause();
	}

	@Override
	void resume() {
		this.server.resume();
	}

	@Override
	void kill() {
		this.server.kill();
	}

	@Override
	void restart() {
		this.server.restart();
	}

	@Override
	public void close() {
		super.close();
		this.server.close();
	}

}
