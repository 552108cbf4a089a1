package io.idempotency.it.jdbc;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.NetworkFaultContract;
import io.idempotency.it.store.StoreNode;

/**
 * Bad lines to databases.
 */
@EachDatabase(having = Product.Trait.SERVER)
@StoreAlone
class JdbcNetworkFaultTests extends NetworkFaultContract {

	private static final String IDLE_WITHOUT_QUESTION = "com.zaxxer.hikari.aliveBypassWindowMs";

	private final SqlDatabase database;

	JdbcNetworkFaultTests(TestDatabase database) {
		this.database = database.address();
	}

	@Override
	protected int serverPort() {
		return this.database.port();
	}

	@Override
	protected StoreNode<?> connect(int port) {
		return new JdbcNode(withoutQuestions(
				() -> this.database.through(port).pool(4, (config) -> config.setConnectionTimeout(2_000))));
	}

	/**
	 * A pool asks a connection that was idle for half a second whether it is alive. On a
	 * line that loses replies it never gets an answer, and the store is never asked.
	 */
	private static synchronized HikariDataSource withoutQuestions(Supplier<HikariDataSource> pool) {
		System.setProperty(IDLE_WITHOUT_QUESTION, Long.toString(TimeUnit.HOURS.toMillis(1)));
		try {
			return pool.get();
		}
		finally {
			System.clearProperty(IDLE_WITHOUT_QUESTION);
		}
	}

	@Override
	protected long records() {
		return Tables.records(this.database.unpooled());
	}

}
