package io.idempotency.proofs.history;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.idempotency.it.servers.OtherJvm.Stack;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;

/** A PostgreSQL, which has some of the work, too. */
final class PostgreSqlAlone extends StoreOnLines {

	private final PostgreSqlServer server = PostgreSqlServer.start(PostgreSqlBinary.POSTGRESQL_18);

	private final SqlDatabase database = this.server.newDatabase();

	private final Set<String> reactive;

	/**
	 * Starts it.
	 * @param reactive the nodes that have WebFlux and ask over R2DBC
	 */
	PostgreSqlAlone(Set<String> reactive) {
		this.reactive = reactive;
		this.database.jdbc().execute(JoinedController.TABLE);
		// Once: a node that starts would wait for the locks of one that stands still, and
		// all others for that node.
		new JdbcSchema(this.database.unpooled(), JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
	}

	@Override
	public String title() {
		return "PostgreSQL " + this.server.binary().version()
				+ (this.reactive.isEmpty() ? "" : ", nodes of both stacks, over JDBC and R2DBC");
	}

	@Override
	public List<Operation> operations() {
		return this.reactive.isEmpty() ? List.of(Operation.values()) : Operation.OF_EVERY_STORE;
	}

	@Override
	public Stack stack(String node) {
		return this.reactive.contains(node) ? Stack.REACTIVE : Stack.SERVLET;
	}

	@Override
	public List<String> properties(String node) {
		SqlDatabase seen = this.database.through(portFor(node));
		if (stack(node) == Stack.REACTIVE) {
			return List.of("idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=never",
					"test.r2dbc.url=" + seen.url().replace("jdbc:", "r2dbc:").replace("//", "//" + seen.user() + "@"));
		}
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
