package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoredResult;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Completions on PostgreSQL are heap-only (HOT) updates: they write no index entry.
 */
@EachDatabase(value = {}, and = { Database.POSTGRESQL_18, Database.POSTGRESQL_16 })
@StoreAlone
class JdbcHotUpdateTests {

	private static final int THREADS = 4;

	private static final int CALLS = 2000;

	private final TestDatabase database;

	JdbcHotUpdateTests(TestDatabase database) {
		this.database = database;
	}

	/**
	 * A completion is not HOT if its page is full, or if its retention ends in a later
	 * hour than that of the claim. Both are rare.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 100, 1000 })
	void completesFreshCallsWithoutNewIndexEntries(int resultSize) {
		Map<String, Object> before = updates();
		StoredResult result = new StoredResult("test", new byte[resultSize]);
		try (HikariDataSource pool = this.database.newPool(THREADS)) {
			IdempotencyStore store = Tables.store(pool);
			ConcurrentDuplicates.of(THREADS).run((index) -> {
				for (int i = 0; i < CALLS / THREADS; i++) {
					Claim claim = Requests.acquire(store, Requests.claim());
					assertThat(store.complete(Completion.result(claim, Fingerprint.NONE, result, Requests.LONG)))
						.isTrue();
				}
				return index;
			}).valuesOrFail();
		}
		// A session reports its statistics when it ends.
		await().atMost(Duration.ofSeconds(60)).until(() -> since(before, "n_tup_upd") >= CALLS);
		assertThat(since(before, "n_tup_upd")).isEqualTo(CALLS);
		assertThat(since(before, "n_tup_hot_upd")).isGreaterThanOrEqualTo(CALLS * 99 / 100);
	}

	private long since(Map<String, Object> before, String column) {
		return (Long) updates().get(column) - (Long) before.get(column);
	}

	private Map<String, Object> updates() {
		return this.database.jdbc()
			.queryForMap("select n_tup_upd, n_tup_hot_upd from pg_stat_all_tables where relname = ?", Tables.RECORDS);
	}

}
