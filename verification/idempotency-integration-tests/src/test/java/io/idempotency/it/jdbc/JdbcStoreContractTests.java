package io.idempotency.it.jdbc;

import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.ServerClockContract;
import io.idempotency.store.IdempotencyStore;

/**
 * The law of every store on every database, and on pools with other settings than the
 * usual. Two stores with a pool each stand for two nodes.
 */
@EachDatabase({ Database.Kind.PRODUCT, Database.Kind.VERSION, Database.Kind.MODE, Database.Kind.DRIVER,
		Database.Kind.DIALECT, Database.Kind.POOL })
@StoreAlone
class JdbcStoreContractTests extends ServerClockContract {

	private static final int POOL_SIZE = 12;

	private final TestDatabase database;

	JdbcStoreContractTests(TestDatabase database) {
		this.database = database;
		database.once("warm-up", this::warmUp);
	}

	@Override
	public IdempotencyStore store() {
		return Tables.store(this.database.sharedPool("one", POOL_SIZE));
	}

	@Override
	public IdempotencyStore anotherStore() {
		return Tables.store(this.database.sharedPool("another", POOL_SIZE));
	}

	/** Fewer where the product and the statements are tested by another one, too. */
	@Override
	public int rounds() {
		return switch (this.database.type().kind()) {
			case MODE, VERSION, DRIVER, POOL -> super.rounds() / 5;
			default -> super.rounds();
		};
	}

}
