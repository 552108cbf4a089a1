package io.idempotency.it.jdbc;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

import com.sun.management.ThreadMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyEviction;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What operators ask of tables with many records.
 */
@EachDatabase(having = Product.Trait.SERVER)
@StoreAlone
class JdbcAdminTests {

	private static final int PAGE = 1000;

	/**
	 * What the row of one record, and an operator's view of it, may take at most. All
	 * rows at once would take many times as much as a page.
	 */
	private static final long BYTES_A_RECORD = 8192;

	private final TestDatabase database;

	private final HikariDataSource pool;

	private final CountingDataSource dataSource;

	private final IdempotencyStore store;

	private final IdempotencyAdmin admin;

	JdbcAdminTests(TestDatabase database) {
		this.database = database;
		this.pool = database.newPool(2);
		this.dataSource = new CountingDataSource(this.pool);
		this.store = Tables.store(this.dataSource);
		this.admin = IdempotencyEngine.admin(this.store, (name) -> this.store, Namespace.NONE);
	}

	@AfterEach
	void stop() {
		this.pool.close();
	}

	@Test
	void manyRecordsAreListedPageByPage() {
		String operation = "many" + UUID.randomUUID();
		IdempotencyKey key = claim(operation, Caller.principal("first"));
		int expected = fill(key);
		Set<String> ids = new HashSet<>();
		List<String> statements = new ArrayList<>();
		String[] cursor = new String[1];
		do {
			statements.addAll(this.dataSource.countsOf(() -> {
				long before = allocated();
				IdempotencyRecordPage page = this.admin.list(operation, cursor[0], PAGE);
				assertThat(allocated() - before).as("bytes that a page takes").isLessThan(PAGE * BYTES_A_RECORD);
				assertThat(page.records()).as("a page").hasSizeLessThan(2 * PAGE);
				page.records().forEach((record) -> assertThat(ids.add(record.id())).isTrue());
				cursor[0] = page.cursor();
			}).statements());
		}
		while (cursor[0] != null);
		assertThat(ids).hasSize(expected).contains(key.hashHex());
		long rows = Tables.records(this.dataSource);
		assertThat(statements.stream().filter((sql) -> sql.contains("ORDER BY key_hash")).count())
			.as("each reads a page of rows")
			.isBetween(rows / PAGE, rows / PAGE + 2);
		new JdbcTemplate(this.pool).update("delete from " + Tables.RECORDS + " where operation = ?", operation);
	}

	private static long allocated() {
		return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
	}

	/**
	 * Doubles the rows, each with a hash of its own: until there are more than 100,000 in
	 * PostgreSQL, which does it fast.
	 */
	private int fill(IdempotencyKey key) {
		boolean fast = this.database.type().product() == Product.POSTGRESQL;
		int rounds = fast ? 17 : 13;
		String hash = fast ? "sha256(key_hash || decode('%02x', 'hex'))"
				: "unhex(sha2(concat(hex(key_hash), '%d'), 256))";
		String copied = "operation, state, claim_id, fence, fingerprint, lease_until, kept_until,"
				+ " purge_after, token_until, attempts";
		int rows = 1;
		for (int round = 0; round < rounds; round++) {
			rows += new JdbcTemplate(this.pool)
				.update("insert into " + Tables.RECORDS + " (key_hash, " + copied + ") select " + hash.formatted(round)
						+ ", " + copied + " from " + Tables.RECORDS + " where operation = ?", key.operation());
		}
		assertThat(rows).isEqualTo(1 << rounds);
		return rows;
	}

	@Test
	void recordsOfOneCallerAreErasedAndNobodyElses() {
		List<IdempotencyKey> mine = new ArrayList<>();
		List<IdempotencyKey> others = new ArrayList<>();
		String name = UUID.randomUUID().toString();
		for (int i = 0; i < 50; i++) {
			mine.add(done("pay" + i % 2, Caller.principal(name)));
			others.add(done("pay" + i % 2, Caller.principal(name + "2")));
			others.add(done("pay" + i % 2, Caller.GLOBAL));
		}
		IdempotencyKey running = claim("pay0", Caller.principal(name));
		List<String> statements = this.dataSource
			.countsOf(() -> assertThat(this.admin.erase(IdempotencyCaller.principal(name), false))
				.isEqualTo(new IdempotencyEviction(50, 1)))
			.statements();
		assertThat(statements.stream().filter((sql) -> sql.contains("ORDER BY key_hash")).count())
			.as("the records of a caller lie together")
			.isEqualTo(1);
		assertThat(mine).noneMatch(this::isKept);
		assertThat(others).allMatch(this::isKept);
		assertThat(isKept(running)).isTrue();
	}

	@Test
	void evictedKeyIsNew() {
		IdempotencyKey key = done("evict", Caller.GLOBAL);
		assertThat(this.admin.evict("evict", key.hashHex(), false).evicted()).isEqualTo(1);
		Requests.acquire(this.store, Requests.claim(key));
	}

	private boolean isKept(IdempotencyKey key) {
		return this.admin.findById(key.operation(), key.hashHex()).isPresent();
	}

	private IdempotencyKey done(String operation, Caller caller) {
		ClaimRequest request = request(operation, caller);
		this.store.complete(Requests.result(Requests.acquire(this.store, request)));
		return request.key();
	}

	private IdempotencyKey claim(String operation, Caller caller) {
		ClaimRequest request = request(operation, caller);
		Requests.acquire(this.store, request);
		return request.key();
	}

	private static ClaimRequest request(String operation, Caller caller) {
		return Requests.claim(IdempotencyKey.of(operation, caller, UUID.randomUUID().toString()));
	}

}
