package io.idempotency.store.sql;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.Dialect.Timeouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DialectsTests {

	private static final String TABLE = Dialects.DEFAULT_TABLE;

	@ParameterizedTest
	@CsvSource({ "PostgreSQL, 18.6, postgresql, true", "H2, 2.3.232 (2024-08-11), h2, true",
			"MySQL, 8.4.0, mysql, true", "MySQL, 9.1.0-cloud, mysql, true", "MySQL, 5.7.44-log, mysql, false",
			"MySQL, 5.5.5-10.11.5-MariaDB, mariadb, true", "MySQL, 11.4.5-MariaDB, mariadb, true",
			"MariaDB, 11.4.5-MariaDB, mariadb, true",
			"MariaDB, 10.5.20-MariaDB-1:10.5.20+maria~ubu2004, mariadb, false" })
	void foundByProductAndVersion(String product, String version, String vendor, boolean skipsLocked) {
		Dialect dialect = Dialects.find(product, version, TABLE, Timeouts.DEFAULT);
		assertThat(dialect.vendor()).isEqualTo(vendor);
		assertThat(dialect.skipsLocked()).isEqualTo(skipsLocked);
	}

	@Test
	void mariaDbThatCannotReturnWhatItInsertsIsSpokenToAsMySql() {
		assertThat(Dialects.find("MariaDB", "10.4.33-MariaDB", TABLE, Timeouts.DEFAULT))
			.isExactlyInstanceOf(MySqlDialect.class);
		assertThat(Dialects.find("MariaDB", "10.5.0-MariaDB", TABLE, Timeouts.DEFAULT))
			.isExactlyInstanceOf(MariaDbDialect.class);
	}

	@Test
	void unknownProductIsNamed() {
		assertThatExceptionOfType(IdempotencyConfigurationException.class)
			.isThrownBy(() -> Dialects.find("Oracle", "23ai", TABLE, Timeouts.DEFAULT))
			.withMessageContaining("'Oracle'")
			.withMessageContaining("23ai")
			.satisfies((ex) -> assertThat(ex.action()).contains("PostgreSQL, MySQL, MariaDB or H2"));
	}

	/** A claim also when it takes over. It is prepared anew only if it has less time. */
	@ParameterizedTest
	@CsvSource({ "PostgreSQL, 8000, 7990, '6000ms'", "PostgreSQL, 8000, 2000, '1500ms'",
			"PostgreSQL, 500, 7990, '500ms'", "MariaDB, 8000, 7990, '= 6,'", "MariaDB, 8000, 2000, '= 1,'",
			"MariaDB, 8000, 700, = 0.375 ", "MariaDB, 500, 7990, '= 1,'" })
	void statementWaitsWithinTheTimeOfItsCall(String product, long waiting, long left, String bound) {
		Timeouts timeouts = new Timeouts(Duration.ofMillis(waiting), Duration.ofSeconds(8));
		Dialect dialect = Dialects.find(product, "11.4.5-MariaDB", TABLE, timeouts);
		for (String sql : List.of(dialect.alone().replace, dialect.alone().renew, dialect.completeAlone(),
				dialect.insertRecord(false))) {
			LockWait wait = dialect.ownLockWait(timeouts.claim());
			assertThat(wait.around(sql, TimeUnit.MILLISECONDS.toNanos(left))).contains(bound);
		}
	}

}
