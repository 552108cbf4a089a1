package io.idempotency.it.jdbc;

import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.ClockContract;
import io.idempotency.it.faults.ShiftedCaller;
import org.junit.jupiter.api.Nested;

/**
 * Nodes of one database whose clocks are apart.
 */
@EachDatabase(having = Product.Trait.SERVER)
@StoreAlone
class JdbcClockTests {

	private final SqlDatabase database;

	JdbcClockTests(TestDatabase database) {
		this.database = database.address();
	}

	/** One instance for all tests of a round: another world takes a while to load. */
	@Nested
	class Clocks extends ClockContract {

		@Override
		protected Class<? extends ShiftedCaller> callerType() {
			return JdbcShiftedCaller.class;
		}

		@Override
		protected void connect(ShiftedCaller caller) {
			caller.connect(JdbcClockTests.this.database.url(), JdbcClockTests.this.database.user());
		}

	}

}
