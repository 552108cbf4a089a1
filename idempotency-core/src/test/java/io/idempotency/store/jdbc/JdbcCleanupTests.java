package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

class JdbcCleanupTests {

	private static final Duration SHORT = Duration.ofNanos(1000);

	private final H2Database database = H2Database.withTable();

	private final JdbcIdempotencyStore store = new JdbcIdempotencyStore(this.database.dataSource());

	@Test
	void purgesBatchAfterBatchAndKeepsWhatIsLive() {
		for (int i = 0; i < 25; i++) {
			claim("over-" + i, SHORT);
		}
		ClaimRequest live = claim("live", Duration.ofHours(1));
		try (JdbcCleanup cleanup = new JdbcCleanup(this.store, Duration.ofMillis(20), 10)) {
			cleanup.start();
			await().untilAsserted(() -> assertThat(records()).isOne());
		}
		assertThat(this.store.claim(live)).isInstanceOf(ClaimResult.Acquired.class);
	}

	@Test
	void goesOnAfterAFailure() {
		this.database.jdbc().execute("alter table idempotency_record rename to elsewhere");
		AtomicInteger purges = new AtomicInteger();
		DataSource counting = new DelegatingDataSource(this.database.dataSource()) {

			@Override
			public Connection getConnection() throws SQLException {
				purges.incrementAndGet();
				return super.getConnection();
			}

		};
		try (JdbcCleanup cleanup = new JdbcCleanup(new JdbcIdempotencyStore(counting), Duration.ofMillis(5), 10)) {
			cleanup.start();
			await().until(() -> purges.get() > 2);
			this.database.jdbc().execute("alter table elsewhere rename to idempotency_record");
			claim("over", SHORT);
			await().untilAsserted(() -> assertThat(records()).isZero());
		}
	}

	@Test
	void intervalAndBatchSizeAreChecked() {
		assertThatIllegalArgumentException().isThrownBy(() -> new JdbcCleanup(this.store, Duration.ZERO, 1))
			.withMessageContaining("interval");
		assertThatIllegalArgumentException().isThrownBy(() -> new JdbcCleanup(this.store, Duration.ofMinutes(5), 0))
			.withMessageContaining("batchSize");
		assertThatIllegalArgumentException().isThrownBy(() -> this.store.purge(10_001))
			.withMessageContaining("batchSize");
	}

	private ClaimRequest claim(String key, Duration time) {
		ClaimRequest request = new ClaimRequest(IdempotencyKey.of("cleanup", Caller.GLOBAL, key), ClaimId.random(),
				Fingerprint.NONE, ClaimType.LEASED, time, time, true);
		assertThat(this.store.claim(request)).isInstanceOf(ClaimResult.Acquired.class);
		return request;
	}

	private long records() {
		return this.database.jdbc().queryForObject("select count(*) from idempotency_record", Long.class);
	}

}
