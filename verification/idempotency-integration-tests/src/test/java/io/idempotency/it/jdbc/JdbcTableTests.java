package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.OldestRecord;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The table of the JDBC store on every database: made, checked, purged.
 */
@EachDatabase({ Database.Kind.PRODUCT, Database.Kind.VERSION, Database.Kind.MODE, Database.Kind.DRIVER,
		Database.Kind.DIALECT })
@StoreAlone
class JdbcTableTests {

	private final TestDatabase database;

	private final DataSource dataSource;

	private final JdbcTemplate jdbc;

	private final JdbcIdempotencyStore store;

	JdbcTableTests(TestDatabase type) {
		this.database = type.another();
		this.dataSource = this.database.sharedPool("pool", 24);
		this.jdbc = new JdbcTemplate(this.dataSource);
		this.store = new JdbcIdempotencyStore(this.dataSource);
	}

	@AfterEach
	void close() throws Exception {
		this.database.close();
	}

	private JdbcSchema schema(String table) {
		return new JdbcSchema(this.dataSource, table);
	}

	private void createTable() {
		schema(JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
	}

	@Test
	void tableThatIsThereIsNotLockedByANodeThatStarts() throws Exception {
		createTable();
		try (Connection caller = this.dataSource.getConnection(); Statement statement = caller.createStatement()) {
			caller.setAutoCommit(false);
			statement.executeUpdate("update idempotency_record set attempts = attempts + 1");
			SchedulerThread.supply(() -> {
				createTable();
				return true;
			}).get(60, TimeUnit.SECONDS);
			caller.rollback();
		}
	}

	private long size() {
		return this.jdbc.queryForObject("select count(*) from idempotency_record", Long.class);
	}

	private IdempotencyKey expired() {
		IdempotencyKey key = Requests.key();
		Requests.acquired(this.store.claim(Requests.claim(key, Requests.SHORT, Requests.SHORT)));
		return key;
	}

	@Test
	void manyNodesMakeTheTableAtOnce() {
		ConcurrentDuplicates.of(8).run((index) -> {
			createTable();
			schema(JdbcIdempotencyStore.DEFAULT_TABLE_NAME).verify();
			return index;
		}).valuesOrFail();
		assertThat(size()).isZero();
	}

	@Test
	void tableOfAnotherSchema() {
		// Databases of one server may share their schemas.
		String schemaName = "app" + Long.toString(System.nanoTime(), 36);
		this.jdbc.execute("create schema " + schemaName);
		String name = schemaName + ".Calls";
		schema(name).create();
		schema(name).create();
		assertThatCode(() -> schema(name).verify()).doesNotThrowAnyException();
		JdbcIdempotencyStore other = new JdbcIdempotencyStore(this.dataSource, name);
		IdempotencyKey key = Requests.key();
		Claim claim = Requests.acquired(other.claim(Requests.claim(key)));
		assertThat(other.complete(Requests.result(claim))).isTrue();
		assertThat(other.claim(Requests.claim(key))).isInstanceOf(ClaimResult.Completed.class);
		assertThat(other.purge(10)).isZero();
	}

	@Test
	void recordOfTheOldestFormatIsReplayed() {
		createTable();
		this.jdbc.update("""
				insert into idempotency_record (key_hash, operation, state, claim_id, fence, fingerprint, lease_until,
					kept_until, purge_after, token_until, attempts, result_format, result_body)
				values (?, ?, 'D', ?, ?, ?, 0, ?, 0, 0, 0, ?, ?)
				""", OldestRecord.KEY_HASH, OldestRecord.OPERATION, OldestRecord.CLAIM_ID, OldestRecord.FENCE,
				OldestRecord.FINGERPRINT, OldestRecord.KEPT_UNTIL, OldestRecord.FORMAT, OldestRecord.ANSWER);
		OldestRecord.assertReplayedBy(this.store);
	}

	@Test
	void missingTableIsNamedWithItsCure() {
		assertThatExceptionOfType(IdempotencyConfigurationException.class)
			.isThrownBy(() -> schema("no_such_table").verify())
			.withMessageContaining("no_such_table")
			.satisfies((ex) -> assertThat(ex.action())
				.contains("schema/" + this.database.type().dialect().vendor() + "/R__idempotency_record.sql"));
	}

	@Test
	void missingColumnIsToldFromAMissingTable() {
		createTable();
		this.jdbc.execute("alter table idempotency_record drop column result_format");
		assertThatExceptionOfType(IdempotencyConfigurationException.class)
			.isThrownBy(() -> schema(JdbcIdempotencyStore.DEFAULT_TABLE_NAME).verify())
			.withMessageContaining("columns");
	}

	@Test
	void purgeDeletesWhatIsOverAndNothingElse() {
		createTable();
		expired();
		IdempotencyKey done = Requests.key();
		Claim claim = Requests.acquired(this.store.claim(Requests.claim(done)));
		this.store.complete(Completion.withoutResult(claim, Fingerprint.NONE, Requests.SHORT));
		IdempotencyKey running = Requests.key();
		Requests.acquired(this.store.claim(Requests.claim(running, Requests.LONG, Requests.SHORT)));
		IdempotencyKey abandoned = Requests.key();
		Requests.acquired(this.store.claim(Requests.claim(abandoned, Requests.SHORT, Requests.LONG)));
		IdempotencyKey kept = Requests.key();
		this.store.complete(Requests.result(Requests.acquired(this.store.claim(Requests.claim(kept)))));
		assertThat(size()).isEqualTo(5);
		// A purge looks at all of them.
		this.jdbc.update("update idempotency_record set purge_after = 0");
		assertThat(this.store.purge(100)).isEqualTo(2);
		assertThat(this.store.purge(100)).isZero();
		assertThat(this.store.claim(Requests.claim(running))).isInstanceOf(ClaimResult.InProgress.class);
		assertThat(this.store.claim(Requests.claim(kept))).isInstanceOf(ClaimResult.Completed.class);
		assertThat(Requests.acquired(this.store.claim(Requests.claim(abandoned))).abandoned()).isTrue();
	}

	@Test
	void purgeLooksAtRecordsAfterTheirRetentionAndAtMostAnHourLater() {
		createTable();
		this.store.complete(Requests.result(Requests.acquired(this.store.claim(Requests.claim()))));
		this.store.complete(
				Requests.result(Requests.acquired(this.store.claim(Requests.claim())), Requests.LONG.multipliedBy(3)));
		Claim released = Requests.acquired(this.store.claim(takenOver()));
		this.store.release(released.key(), released.id());
		IdempotencyKey token = IdempotencyKey.ofToken(Caller.GLOBAL, "token");
		this.store.issue(token, Requests.LONG.multipliedBy(2));
		Claim used = Requests.acquired(this.store.claim(Requests.claim(token)));
		this.store.release(token, used.id());
		assertThat(size()).isEqualTo(4);
		assertThat(this.jdbc.queryForObject("select count(*) from idempotency_record"
				+ " where purge_after between kept_until and kept_until + 3600000000", Long.class))
			.isEqualTo(4);
	}

	/** A claim of a key whose first owner crashed. */
	private ClaimRequest takenOver() {
		IdempotencyKey key = Requests.key();
		Requests.acquired(this.store.claim(Requests.claim(key, Requests.SHORT, Requests.LONG)));
		return Requests.claim(key);
	}

	@Test
	void purgeLooksAtShorterRecordsLater() {
		createTable();
		Claim claim = Requests.acquired(this.store.claim(Requests.claim()));
		this.store.complete(Completion.withoutResult(claim, Fingerprint.NONE, Requests.SHORT));
		assertThat(this.store.purge(100)).isZero();
		assertThat(Requests.acquired(this.store.claim(Requests.claim(claim.key()))).abandoned()).isFalse();
	}

	@Test
	void purgeDeletesOneBatch() {
		createTable();
		for (int i = 0; i < 25; i++) {
			expired();
		}
		assertThat(List.of(this.store.purge(10), this.store.purge(10), this.store.purge(10))).containsExactly(10, 10,
				5);
		assertThat(size()).isZero();
	}

	@Test
	void twoNodesPurgeWhileTheirKeysAreClaimedAgain() {
		createTable();
		List<IdempotencyKey> keys = new ArrayList<>();
		for (int i = 0; i < 300; i++) {
			keys.add(expired());
		}
		Set<IdempotencyKey> again = new HashSet<>(keys.subList(100, 200));
		AtomicBoolean claiming = new AtomicBoolean(true);
		AtomicInteger purged = new AtomicInteger();
		ConcurrentDuplicates.of(4).run((index) -> {
			if (index < 2) {
				int last = 1;
				while (last > 0 || claiming.get()) {
					last = this.store.purge(20);
					purged.addAndGet(last);
				}
			}
			else if (index == 2) {
				try {
					again.forEach(this::claimAtLast);
				}
				finally {
					claiming.set(false);
				}
			}
			return index;
		}).valuesOrFail();
		assertThat(size()).isEqualTo(again.size());
		assertThat(purged.get()).isBetween(keys.size() - again.size(), keys.size());
		assertThat(again).allSatisfy(
				(key) -> assertThat(this.store.claim(Requests.claim(key))).isInstanceOf(ClaimResult.InProgress.class));
	}

	/**
	 * A claim that waits too long for the row of a purge is told that the key is held.
	 */
	private void claimAtLast(IdempotencyKey key) {
		ClaimRequest request = Requests.claim(key);
		await().pollInterval(Duration.ofMillis(10))
			.until(() -> this.store.claim(request) instanceof ClaimResult.Acquired);
	}

	@Test
	void operationIsReadableInTheTable() {
		createTable();
		String operation = "com.example.Orders.create(java.lang.String)";
		IdempotencyKey key = IdempotencyKey.of(operation, Caller.GLOBAL, "k");
		this.store.claim(Requests.claim(key));
		assertThat(this.jdbc.queryForObject("select operation from idempotency_record", String.class))
			.isEqualTo(operation);
	}

	@Test
	void recordOfANewerVersionIsNotAbsent() {
		createTable();
		IdempotencyKey key = Requests.key();
		this.store.claim(Requests.claim(key));
		this.jdbc.update("update idempotency_record set state = 'Z'");
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> this.store.claim(Requests.claim(key)));
	}

}
