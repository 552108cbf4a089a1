package io.idempotency.it.jdbc;

import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.SqlServer;
import io.idempotency.it.store.NetworkFaultContract;
import io.idempotency.it.store.StoreNode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/**
 * Bad lines to databases.
 */
class JdbcNetworkFaultTests {

	@Nested
	@RequiresPostgreSql
	class PostgreSql extends Network {

		@Override
		SqlServer server() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18);
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDb extends Network {

		@Override
		SqlServer server() {
			return MariaDbServer.shared();
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class Network extends NetworkFaultContract {

		private SqlDatabase database;

		abstract SqlServer server();

		@BeforeAll
		void start() {
			this.database = server().newDatabase();
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
