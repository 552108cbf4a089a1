package io.idempotency.it.jdbc;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyEvent;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.Callers;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Runs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes purge at once while both are called.
 */
@EachDatabase(having = Product.Trait.SERVER)
@StoreAlone
class JdbcPurgeTests {

	private static final int EXPIRED = 20_000;

	private static final int BATCH = 500;

	private final Runs runs = new Runs();

	private final TestDatabase database;

	private final JdbcNode one;

	private final JdbcNode two;

	JdbcPurgeTests(TestDatabase database) {
		this.database = database;
		database.jdbc().update("delete from " + Tables.RECORDS);
		this.one = database.newNode(8);
		this.two = database.newNode(8);
	}

	@AfterEach
	void stop() {
		this.one.close();
		this.two.close();
	}

	@Test
	void whatIsExpiredIsPurgedOnceAndCallsGoOn() throws Exception {
		List<String> kept = IntStream.range(0, 100).mapToObj((number) -> freshKey()).toList();
		kept.forEach((key) -> this.one.execute(key, () -> this.runs.run(key)));
		writeExpired(EXPIRED);
		List<Integer> purged = new ArrayList<>();
		List<String> keys = new Callers(List.of(this.one, this.two), this.runs).callWhile(() -> {
			CompletableFuture<Integer> other = SchedulerThread.supply(() -> purgeAll(this.two));
			purged.add(purgeAll(this.one));
			purged.add(other.orTimeout(60, TimeUnit.SECONDS).join());
		});
		// A node may have found the last of them in the hands of the other, which gave
		// them back.
		int rest = purgeAll(this.one);
		assertThat(purged.get(0) + purged.get(1) + rest).as("purged").isEqualTo(EXPIRED);
		expectUndisturbed(kept, keys);
	}

	@Test
	void whatExpiresDuringThePurgeMayBePurgedToo() throws Exception {
		AtomicBoolean over = new AtomicBoolean();
		CompletableFuture<Void> purge = SchedulerThread.run(() -> {
			while (!over.get()) {
				this.one.store().purge(BATCH);
			}
		});
		List<String> keys;
		try {
			keys = new Callers(List.of(this.one, this.two), this.runs).callWhile(this::callAndForget);
		}
		finally {
			over.set(true);
		}
		purge.get(60, TimeUnit.SECONDS);
		expectUndisturbed(List.of(), keys);
	}

	/** Nor does the one that purges wait for a call. */
	@Test
	void recordThatSomebodyHoldsIsPassedBy() {
		writeExpired(3);
		try (HikariDataSource pool = this.database.newPool(1)) {
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			new TransactionTemplate(new DataSourceTransactionManager(pool)).executeWithoutResult((status) -> {
				jdbc.queryForList("select state from " + Tables.RECORDS + " where key_hash = ? for update", hash(0));
				assertThat(this.one.store().purge(BATCH)).isEqualTo(2);
				assertThat(this.one.store().purge(BATCH)).isZero();
			});
		}
		assertThat(this.one.store().purge(BATCH)).isOne();
	}

	private void callAndForget() {
		for (int i = 0; i < 100; i++) {
			String result = this.two.call(freshKey())
				.retention(Duration.ofMillis(1))
				.execute(String.class, () -> "forgotten");
			assertThat(result).isEqualTo("forgotten");
		}
	}

	private void expectUndisturbed(List<String> kept, List<String> called) {
		List<String> keys = new ArrayList<>(kept);
		keys.addAll(called);
		for (String key : keys) {
			assertThat(this.two.execute(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
		}
		while (purgeAll(this.one) > 0) {
			Thread.onSpinWait();
		}
		assertThat(Tables.records(this.database.address().unpooled())).isEqualTo(keys.size());
		for (JdbcNode node : List.of(this.one, this.two)) {
			assertThat(node.count(IdempotencyEvent.STORE_UNAVAILABLE)).isZero();
			assertThat(node.count(IdempotencyEvent.STORE_RETRY)).isZero();
		}
	}

	private static int purgeAll(JdbcNode node) {
		int purged = 0;
		int last = node.store().purge(BATCH);
		while (last > 0) {
			purged += last;
			last = node.store().purge(BATCH);
		}
		return purged;
	}

	private void writeExpired(int records) {
		try (HikariDataSource pool = this.database.newPool(1)) {
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			List<Object[]> rows = IntStream.range(0, records)
				.mapToObj((number) -> new Object[] { hash(number), new byte[16], new byte[0], 1_000_000L + number,
						1_000_000L + number })
				.toList();
			String insert = "insert into " + Tables.RECORDS + " (key_hash, operation, state, claim_id, fence,"
					+ " fingerprint, lease_until, kept_until, purge_after, token_until, attempts)"
					+ " values (?, 'test', 'T', ?, 1, ?, 0, ?, ?, 0, 1)";
			new TransactionTemplate(new DataSourceTransactionManager(pool))
				.executeWithoutResult((status) -> jdbc.batchUpdate(insert, rows));
		}
	}

	private static byte[] hash(int number) {
		return ByteBuffer.allocate(32).putInt(number).array();
	}

	private static String freshKey() {
		return UUID.randomUUID().toString();
	}

}
