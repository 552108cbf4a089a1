package io.idempotency.it.http;

import javax.sql.DataSource;

import io.idempotency.it.scenarios.EncryptedAnswersScenarios;
import io.idempotency.it.servers.Nightly;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scenarios whose answer depends on what the store keeps, with records in PostgreSQL.
 */
@Nightly
class OnPostgreSqlTests {

	@Nested
	@OnPostgreSql
	@TestPropertySource(properties = EncryptedAnswersScenarios.PROPERTIES)
	class EncryptedAnswers extends KeptAnswersOnTomcatTests implements EncryptedAnswersScenarios.InPostgreSql {

		@Autowired
		private DataSource dataSource;

		@Override
		public JdbcTemplate database() {
			return new JdbcTemplate(this.dataSource);
		}

	}

	@Nested
	@OnPostgreSql
	class Fingerprints extends FingerprintsOnTomcatTests {

	}

	@Nested
	@OnPostgreSql
	class Keys extends KeysOnTomcatTests {

	}

	@Nested
	@OnPostgreSql
	class KeptAnswers extends KeptAnswersOnTomcatTests {

		@Test
		void recordsAreInTheDatabase(@Autowired IdempotencyStore store) {
			assertThat(store).isInstanceOf(JdbcIdempotencyStore.class);
		}

	}

	@Nested
	@OnPostgreSql
	class Released extends ReleasedOnTomcatTests {

	}

	@Nested
	@OnPostgreSql
	class Storm extends StormOnTomcatTests {

	}

	@Nested
	@OnPostgreSql
	class Tombstones extends TombstonesOnTomcatTests {

	}

}
