package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.it.jdbc.CountingDataSource.Counts;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresMySql;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What a guarded call costs in statements, each of which is a transaction of its own
 * without a round trip for its commit.
 */
class JdbcStatementCountTests {

	@Nested
	@RequiresPostgreSql
	class PostgreSql16 extends StatementCounts {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_16).newDatabase();
		}

	}

	@Nested
	@RequiresPostgreSql
	class PostgreSql18 extends StatementCounts {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDb extends InnoDbCounts {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase();
		}

	}

	/** The driver of MySQL, which does not know what MariaDB can do beyond MySQL. */
	@Nested
	@RequiresMariaDb
	class MariaDbThroughTheDriverOfMySql extends InnoDbCounts {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase().asMySql();
		}

	}

	@Nested
	@RequiresMySql
	class MySql extends MySqlCounts {

		@Override
		SqlDatabase database() {
			return RealMySql.newDatabase();
		}

	}

	/** The statements for MySQL. */
	@Nested
	@RequiresMariaDb
	class MySqlStatements extends MySqlCounts {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase().asMySql();
		}

		@Override
		DataSource asSeenByTheStore(DataSource dataSource) {
			return new PretendsToBeMySql(dataSource);
		}

	}

	abstract static class MySqlCounts extends InnoDbCounts {

		/** An insert that fails, and a reading: it has no RETURNING. */
		@Override
		int duplicate() {
			return 2;
		}

		/** The bound on waiting is set before and put back after. */
		@Override
		int joined() {
			return 4;
		}

	}

	/**
	 * Their servers count, too: what a driver asks on its own account is a round trip.
	 */
	abstract static class InnoDbCounts extends StatementCounts {

		/** Those that nobody holds are locked first. */
		@Override
		int renewal() {
			return 2;
		}

		@Test
		void serverIsAskedNoMoreThanTheStatements() {
			String key = freshKey();
			assertThat(questionsOf(() -> node().execute(key, () -> "done"))).as("fresh").isEqualTo(2);
			assertThat(questionsOf(() -> node().execute(key, () -> "again"))).as("duplicate").isEqualTo(duplicate());
		}

		@Test
		void serverIsAskedNoMoreThanTheStatementsOfAJoinedCall() {
			long alone = questionsOf(() -> transaction(() -> {
			}));
			long joined = questionsOf(() -> transaction(this::joinedCall));
			assertThat(joined - alone).isEqualTo(joined());
		}

		private void transaction(Runnable work) {
			new TransactionTemplate(new DataSourceTransactionManager(dataSource())).executeWithoutResult((status) -> {
				new JdbcTemplate(dataSource()).update("insert into payment values (?)", freshKey());
				work.run();
			});
		}

		private long questionsOf(Runnable task) {
			long before = questions();
			task.run();
			// The second look is a question itself.
			return questions() - before - 1;
		}

		private long questions() {
			return new JdbcTemplate(dataSource()).queryForObject("show global status like 'Questions'",
					(row, number) -> row.getLong(2));
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class StatementCounts {

		private CountingDataSource dataSource;

		private JdbcNode node;

		abstract SqlDatabase database();

		DataSource asSeenByTheStore(DataSource dataSource) {
			return dataSource;
		}

		final DataSource dataSource() {
			return this.dataSource;
		}

		final JdbcNode node() {
			return this.node;
		}

		int duplicate() {
			return 1;
		}

		int joined() {
			return 2;
		}

		int renewal() {
			return 1;
		}

		@BeforeAll
		void start() {
			SqlDatabase database = database();
			Tables.create(database);
			database.jdbc().execute("create table payment (id varchar(36) primary key)");
			HikariDataSource pool = database.pool(4);
			this.dataSource = new CountingDataSource(asSeenByTheStore(pool));
			this.node = new JdbcNode(this.dataSource, pool);
			// Connects, and asks the database what it has to ask once.
			this.node.execute(freshKey(), () -> "done");
		}

		@AfterAll
		void stop() {
			this.node.close();
		}

		@Test
		void freshCallTakesTwoStatements() {
			expectStatements(2, () -> this.node.execute(freshKey(), () -> "done"));
		}

		@Test
		void replayTakesOneStatementOrTwo() {
			String key = freshKey();
			this.node.execute(key, () -> "done");
			expectStatements(duplicate(), () -> assertThat(this.node.execute(key, () -> "again")).isEqualTo("done"));
		}

		@Test
		void duplicateInFlightTakesOneStatementOrTwo() {
			AtomicReference<String> result = new AtomicReference<>();
			String key = freshKey();
			this.node.execute(key, () -> {
				expectStatements(duplicate(), () -> assertThatExceptionOfType(IdempotencyInProgressException.class)
					.isThrownBy(() -> this.node.execute(key, () -> "again")));
				result.set("done");
				return "done";
			});
			assertThat(result).hasValue("done");
		}

		@Test
		void mismatchTakesOneStatementOrTwo() {
			String key = freshKey();
			this.node.call(key).fingerprint("one").execute(String.class, () -> "done");
			expectStatements(duplicate(), () -> assertThatExceptionOfType(IdempotencyKeyReusedException.class)
				.isThrownBy(() -> this.node.call(key).fingerprint("two").execute(String.class, () -> "again")));
		}

		@Test
		void rejectTakesOneStatementAndItsDuplicateOneMoreThanOthers() {
			String key = freshKey();
			expectStatements(1, () -> this.node.call(key).mode(IdempotencyMode.REJECT).run(() -> {
			}));
			// The last one counts the attempt.
			expectStatements(duplicate() + 1, () -> assertThatExceptionOfType(IdempotencyDuplicateException.class)
				.isThrownBy(() -> this.node.call(key).mode(IdempotencyMode.REJECT).run(() -> {
				})));
		}

		@Test
		void failedCallTakesTwoStatements() {
			expectStatements(2, () -> assertThatIllegalStateException().isThrownBy(() -> {
				this.node.execute(freshKey(), () -> {
					throw new IllegalStateException();
				});
			}));
		}

		@Test
		void lockTakesTwoStatementsAndLeavesNothing() {
			long before = Tables.records(this.dataSource);
			expectStatements(2,
					() -> this.node.call(freshKey()).mode(IdempotencyMode.LOCK).execute(String.class, () -> "done"));
			assertThat(Tables.records(this.dataSource)).isEqualTo(before);
		}

		@Test
		void manyClaimsAreRenewedByOneStatementOrTwo() {
			List<Renewal> renewals = new ArrayList<>();
			for (int i = 0; i < 200; i++) {
				ClaimRequest request = request();
				this.node.store().claim(request);
				renewals.add(new Renewal(request.key(), request.claimId(), Duration.ofMinutes(1)));
			}
			Counts counts = this.dataSource
				.countsOf(() -> assertThat(this.node.store().renewAll(renewals)).as("refused").isEmpty());
			assertThat(counts.statements()).hasSize(renewal());
			assertThat(counts.connections()).isEqualTo(1);
		}

		@Test
		void joinedCallAddsNoCommitToItsTransaction() {
			TransactionTemplate transaction = new TransactionTemplate(
					new DataSourceTransactionManager(this.dataSource));
			AtomicReference<Claim> claim = new AtomicReference<>();
			Counts counts = this.dataSource.countsOf(() -> transaction.executeWithoutResult((status) -> {
				new JdbcTemplate(this.dataSource).update("insert into payment values (?)", freshKey());
				claim.set(joinedCall());
			}));
			assertThat(counts.statements()).as("and the payment").hasSize(joined() + 1);
			assertThat(counts.others()).containsExactly("commit");
			assertThat(counts.connections()).isEqualTo(1);
			expectStatements(1,
					() -> this.node.store()
						.complete(Completion.result(claim.get(), Fingerprint.NONE,
								new StoredResult("text", new byte[] { 'x' }), Duration.ofHours(1))));
		}

		/** Within a transaction. */
		final Claim joinedCall() {
			IdempotencyStore joining = this.node.store().joining().orElseThrow();
			ClaimRequest request = request();
			Claim claim = ((ClaimResult.Acquired) joining.claim(request)).claim();
			joining.complete(
					Completion.executed(claim, request.fingerprint(), Duration.ofSeconds(5), Duration.ofHours(1)));
			return claim;
		}

		private static ClaimRequest request() {
			return new ClaimRequest(IdempotencyKey.of("test", Caller.GLOBAL, freshKey()), ClaimId.random(),
					Fingerprint.NONE, ClaimType.LEASED, Duration.ofMinutes(1), Duration.ofHours(1), true);
		}

		private void expectStatements(int expected, Runnable call) {
			Counts counts = this.dataSource.countsOf(call);
			assertThat(counts.statements()).hasSize(expected);
			assertThat(counts.others()).as("further round trips").isEmpty();
			assertThat(counts.connections()).isLessThanOrEqualTo(expected);
		}

		static String freshKey() {
			return UUID.randomUUID().toString();
		}

	}

}
