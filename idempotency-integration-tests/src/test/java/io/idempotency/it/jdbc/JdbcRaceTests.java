package io.idempotency.it.jdbc;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.StoreAlone;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresMySql;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.RaceContract;
import io.idempotency.it.store.StoreNode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/**
 * The races on databases, at the isolation that each has by default and at stricter ones.
 */
@StoreAlone
class JdbcRaceTests {

	@Nested
	@RequiresPostgreSql
	class PostgreSql extends Races {

		@Override
		List<JdbcNode> start() {
			SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
			Tables.create(database);
			return List.of(new JdbcNode(database.pool(8)), new JdbcNode(database.pool(8)));
		}

	}

	/** Through two drivers. */
	@Nested
	@RequiresMariaDb
	class MariaDb extends Races {

		@Override
		List<JdbcNode> start() {
			SqlDatabase database = MariaDbServer.shared().newDatabase();
			Tables.create(database);
			return List.of(new JdbcNode(database.pool(8)), new JdbcNode(database.asMySql().pool(8)));
		}

	}

	/** The statements for MySQL beside those for MariaDB. */
	@Nested
	@RequiresMariaDb
	class MySqlStatements extends Races {

		@Override
		List<JdbcNode> start() {
			SqlDatabase database = MariaDbServer.shared().newDatabase();
			Tables.create(database);
			HikariDataSource pool = database.asMySql().pool(8);
			return List.of(new JdbcNode(database.pool(8)), new JdbcNode(new PretendsToBeMySql(pool), pool));
		}

		@Override
		protected int keyCount() {
			return 250;
		}

	}

	@Nested
	@RequiresMySql
	class MySql extends Races {

		@Override
		List<JdbcNode> start() {
			SqlDatabase database = RealMySql.newDatabase();
			Tables.create(database);
			return List.of(new JdbcNode(database.pool(8)), new JdbcNode(database.pool(8)));
		}

	}

	@Nested
	@RequiresPostgreSql
	class PostgreSqlRepeatableRead extends StricterRaces {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_16).newDatabase();
		}

		@Override
		String isolation() {
			return "TRANSACTION_REPEATABLE_READ";
		}

	}

	@Nested
	@RequiresPostgreSql
	class PostgreSqlSerializable extends StricterRaces {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_16).newDatabase();
		}

		@Override
		String isolation() {
			return "TRANSACTION_SERIALIZABLE";
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDbSerializable extends StricterRaces {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase();
		}

		@Override
		String isolation() {
			return "TRANSACTION_SERIALIZABLE";
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class Races extends RaceContract {

		private List<JdbcNode> nodes;

		abstract List<JdbcNode> start();

		@BeforeAll
		void startNodes() {
			this.nodes = start();
		}

		@AfterAll
		void stopNodes() {
			this.nodes.forEach(JdbcNode::close);
		}

		@Override
		protected List<? extends StoreNode<?>> nodes() {
			return this.nodes;
		}

	}

	/** With fewer keys: what goes wrong goes wrong soon. */
	abstract static class StricterRaces extends Races {

		abstract SqlDatabase database();

		abstract String isolation();

		@Override
		List<JdbcNode> start() {
			SqlDatabase database = database();
			Tables.create(database);
			return List.of(connect(database), connect(database));
		}

		private JdbcNode connect(SqlDatabase database) {
			return new JdbcNode(database.pool(8, (config) -> config.setTransactionIsolation(isolation())));
		}

		@Override
		protected int keyCount() {
			return 250;
		}

	}

}
