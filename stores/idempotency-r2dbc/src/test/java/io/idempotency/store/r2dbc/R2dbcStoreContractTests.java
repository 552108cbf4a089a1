package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.Requests;
import io.idempotency.it.store.ServerClockContract;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.r2dbc.pool.ConnectionPool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/**
 * The law of every store. The other node is one over JDBC, on the same table.
 */
@StoreAlone
class R2dbcStoreContractTests {

	@Nested
	class OnH2 extends Contract {

		@Override
		TestDatabase newDatabase() {
			return TestDatabase.h2();
		}

	}

	@Nested
	class OnPostgreSql extends Contract {

		@Override
		TestDatabase newDatabase() {
			return TestDatabase.postgreSql();
		}

	}

	@Nested
	class OnMariaDb extends Contract {

		@Override
		TestDatabase newDatabase() {
			return TestDatabase.mariaDb();
		}

	}

	@Nested
	class OnMariaDbAsMySql extends Contract {

		@Override
		TestDatabase newDatabase() {
			return TestDatabase.mariaDbAsMySql();
		}

	}

	@Nested
	@Requires(Backend.MYSQL_PROCESS)
	class OnMySql extends Contract {

		@Override
		TestDatabase newDatabase() {
			return TestDatabase.mySql();
		}

	}

	@TestInstance(TestInstance.Lifecycle.PER_CLASS)
	abstract static class Contract extends ServerClockContract {

		private static final int POOL_SIZE = 12;

		private static final Duration PATIENCE = Duration.ofSeconds(20);

		private ConnectionPool pool;

		private IdempotencyStore overR2dbc;

		private IdempotencyStore overJdbc;

		abstract TestDatabase newDatabase();

		@BeforeAll
		void start() {
			TestDatabase database = newDatabase().withTable();
			this.pool = database.pool(POOL_SIZE);
			this.overR2dbc = new R2dbcIdempotencyStore(this.pool, null, R2dbcIdempotencyStore.DEFAULT_TABLE_NAME,
					Duration.ofSeconds(5), PATIENCE)
				.blocking();
			this.overJdbc = new JdbcIdempotencyStore(database.jdbc().pool(POOL_SIZE),
					JdbcIdempotencyStore.DEFAULT_TABLE_NAME, Duration.ofSeconds(5), PATIENCE);
			warmUp();
			for (IdempotencyStore store : List.of(this.overR2dbc, this.overJdbc)) {
				store.issue(IdempotencyKey.ofToken(Caller.ANONYMOUS, UUID.randomUUID().toString()), Requests.LONG);
			}
		}

		@AfterAll
		void stop() {
			this.pool.dispose();
		}

		@Override
		public IdempotencyStore store() {
			return this.overR2dbc;
		}

		@Override
		public IdempotencyStore anotherStore() {
			return this.overJdbc;
		}

		@Override
		public int rounds() {
			return super.rounds() / 5;
		}

	}

}
