package io.idempotency.it.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.store.Requests;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Somebody has the whole table to himself, as {@code VACUUM FULL} and {@code ALTER TABLE}
 * do. A statement that waits for the table outlives its connection, and must not be
 * followed by one of each later call, or the server would run out of connections.
 */
@EachDatabase(value = {}, and = Database.POSTGRESQL_18)
class JdbcLockedTableTests {

	/** Is waited for once; later statements give up long before. */
	private static final Duration STORE_TIMEOUT = Duration.ofSeconds(6);

	private final TestDatabase database;

	private final HikariDataSource pool;

	private final JdbcIdempotencyStore store;

	JdbcLockedTableTests(TestDatabase database) {
		this.database = database;
		this.pool = database.newPool(4);
		this.store = new JdbcIdempotencyStore(this.pool, Tables.RECORDS, Duration.ofMillis(500), STORE_TIMEOUT);
	}

	@AfterEach
	void stop() {
		this.pool.close();
	}

	@Test
	void callsThatWaitForTheTableDoNotPileUpAtTheServer() throws SQLException {
		JdbcTemplate console = this.database.jdbc();
		String waiting = this.database.type().product().waitingTransactions();
		try (Connection holder = this.database.address().unpooled().getConnection();
				Statement statement = holder.createStatement()) {
			holder.setAutoCommit(false);
			statement.execute("lock table " + Tables.RECORDS + " in access exclusive mode");
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> this.store.claim(Requests.claim()));
			assertThat(console.queryForObject(waiting, Long.class)).isOne();
			for (int i = 0; i < 3; i++) {
				assertThat(this.store.claim(Requests.claim())).isInstanceOf(ClaimResult.InProgress.class);
			}
			assertThat(console.queryForObject(waiting, Long.class)).isOne();
		}
		assertThat(this.store.claim(Requests.claim())).isInstanceOf(ClaimResult.Acquired.class);
	}

}
