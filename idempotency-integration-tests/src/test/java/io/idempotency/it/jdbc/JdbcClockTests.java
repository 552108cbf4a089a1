package io.idempotency.it.jdbc;

import io.idempotency.it.StoreAlone;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.ClockContract;
import io.idempotency.it.store.ShiftedCaller;
import org.junit.jupiter.api.Nested;

/**
 * Nodes of one database whose clocks are apart.
 */
@StoreAlone
class JdbcClockTests {

	@Nested
	@RequiresPostgreSql
	class PostgreSql extends Clocks {

		PostgreSql() {
			super(PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase());
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDb extends Clocks {

		MariaDb() {
			super(MariaDbServer.shared().newDatabase());
		}

	}

	abstract static class Clocks extends ClockContract {

		private final SqlDatabase database;

		Clocks(SqlDatabase database) {
			this.database = database;
			Tables.create(database);
		}

		@Override
		protected Class<? extends ShiftedCaller> callerType() {
			return JdbcShiftedCaller.class;
		}

		@Override
		protected void connect(ShiftedCaller caller) {
			caller.connect(this.database.url(), this.database.user());
		}

	}

}
