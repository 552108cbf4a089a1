package io.idempotency.it.jdbc;

import javax.sql.DataSource;

import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.Requests;
import io.idempotency.it.store.ServerClockContract;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of stores on a table of PostgreSQL that is partitioned by the hash of the
 * key.
 */
@EachDatabase(value = {}, and = { Database.POSTGRESQL_18, Database.POSTGRESQL_16 })
@StoreAlone
class JdbcPartitionedContractTests extends ServerClockContract {

	private static final int PARTITIONS = 4;

	private final TestDatabase database;

	JdbcPartitionedContractTests(TestDatabase database) {
		this.database = database;
		database.once("partitions", () -> partition(database.jdbc()));
		database.once("warm-up", this::warmUp);
	}

	private static void partition(JdbcTemplate jdbc) {
		jdbc.execute("alter table idempotency_record rename to plain");
		jdbc.execute("alter index idempotency_record_purge_after rename to plain_purge_after");
		jdbc.execute(
				"create table idempotency_record (like plain, primary key (key_hash)) partition by hash (key_hash)");
		for (int i = 0; i < PARTITIONS; i++) {
			jdbc.execute(
					"create table idempotency_record_%d partition of idempotency_record for values with (modulus %d, remainder %d) with (fillfactor = 80)"
						.formatted(i, PARTITIONS, i));
		}
		jdbc.execute("create index idempotency_record_purge_after on idempotency_record (purge_after)");
	}

	@Override
	public IdempotencyStore store() {
		return Tables.store(this.database.sharedPool("one", 12));
	}

	@Override
	public IdempotencyStore anotherStore() {
		return Tables.store(this.database.sharedPool("another", 12));
	}

	@Override
	public int rounds() {
		return super.rounds() / 5;
	}

	/** On a table of its own, because the other tests run at the same time. */
	@Test
	void verifiesTableAndPurgesEachPartition() throws Exception {
		try (TestDatabase own = this.database.another()) {
			DataSource pool = own.sharedPool("pool", 2);
			JdbcSchema schema = new JdbcSchema(pool, Tables.RECORDS);
			schema.create();
			partition(own.jdbc());
			schema.create();
			schema.verify();
			JdbcIdempotencyStore store = Tables.store(pool);
			for (int i = 0; i < 100; i++) {
				Requests.acquire(store, Requests.claim(Requests.key(), Requests.SHORT, Requests.SHORT));
			}
			for (int i = 0; i < PARTITIONS; i++) {
				assertThat(own.jdbc().queryForObject("select count(*) from idempotency_record_" + i, Long.class))
					.isPositive();
			}
			assertThat(store.purge(60)).isEqualTo(60);
			assertThat(store.purge(60)).isEqualTo(40);
		}
	}

}
