package io.idempotency.it.jdbc;

import io.idempotency.it.StoreAlone;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresMySql;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.NetworkFaultContract;
import io.idempotency.it.store.StoreNode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/**
 * Bad lines to databases.
 */
@StoreAlone
class JdbcNetworkFaultTests {

	@Nested
	@RequiresPostgreSql
	class PostgreSql extends Network {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDb extends Network {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase();
		}

	}

	@Nested
	@RequiresMySql
	class MySql extends Network {

		@Override
		SqlDatabase database() {
			return RealMySql.newDatabase();
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class Network extends NetworkFaultContract {

		private SqlDatabase database;

		abstract SqlDatabase database();

		@BeforeAll
		void start() {
			this.database = database();
			Tables.create(this.database);
		}

		@Override
		protected int serverPort() {
			return this.database.port();
		}

		@Override
		protected StoreNode<?> connect(int port) {
			return new JdbcNode(this.database.through(port).pool(4, (config) -> config.setConnectionTimeout(2_000)));
		}

		@Override
		protected long records() {
			return Tables.records(this.database.unpooled());
		}

	}

}
