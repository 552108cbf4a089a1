package io.idempotency.it.jdbc;

import java.util.List;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.DeadOwnerContract;
import io.idempotency.it.store.StoreNode;
import org.junit.jupiter.api.AfterEach;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * An owner of claims in PostgreSQL is killed.
 */
@Requires(Backend.POSTGRESQL)
@StoreAlone
class JdbcDeadOwnerTests extends DeadOwnerContract {

	private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

	private final JdbcNode survivor;

	JdbcDeadOwnerTests() {
		Tables.create(this.database);
		this.database.jdbc().execute("create table effect (ref varchar(100))");
		this.survivor = new JdbcNode(this.database.pool(4));
	}

	@AfterEach
	void stop() {
		this.survivor.close();
	}

	@Override
	protected Class<?> ownerType() {
		return Owner.class;
	}

	@Override
	protected List<String> address() {
		return List.of(this.database.url(), Integer.toString(this.database.port()), this.database.user());
	}

	@Override
	protected StoreNode<?> survivor() {
		return this.survivor;
	}

	@Override
	protected String run(String key) {
		haveEffect(this.database, key);
		return "run " + runs(key);
	}

	private static void haveEffect(SqlDatabase database, String key) {
		database.jdbc().update("insert into effect (ref) values (?)", key);
	}

	@Override
	protected int runs(String key) {
		JdbcTemplate jdbc = this.database.jdbc();
		return jdbc.queryForObject("select count(*) from effect where ref = ?", Integer.class, key);
	}

	/** Is killed. */
	static final class Owner {

		private Owner() {
		}

		public static void main(String[] args) throws Exception {
			SqlDatabase database = new SqlDatabase(args[0], Integer.parseInt(args[1]), args[2]);
			own(new JdbcNode(database.pool(4)), args[3], (key) -> haveEffect(database, key));
		}

	}

}
