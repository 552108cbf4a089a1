package io.idempotency.it.jdbc;

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
		return new JdbcNode(this.database.through(port).pool(4, (config) -> config.setConnectionTimeout(2_000)));
	}

	@Override
	protected long records() {
		return Tables.records(this.database.unpooled());
	}

}
