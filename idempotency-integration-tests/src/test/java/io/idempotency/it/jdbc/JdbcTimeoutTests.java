package io.idempotency.it.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.StoreAlone;
import io.idempotency.it.servers.BadLine;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresMySql;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.OwnThread;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.NotAllRenewedException;
import io.idempotency.store.Renewal;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * No call of the store takes longer than it may, whoever holds the row and wherever the
 * replies go. The locks of these tests are held until the test has seen the end of the
 * call.
 */
@StoreAlone
class JdbcTimeoutTests {

	private static final Duration STORE_TIMEOUT = Duration.ofSeconds(2);

	private static final long TEST_TIMEOUT_SECONDS = 20;

	@Nested
	class H2 extends Locks {

		@Override
		TestPool open() {
			return TestPool.h2(";LOCK_TIMEOUT=60000");
		}

	}

	@Nested
	@RequiresPostgreSql
	class PostgreSql extends Locks {

		@Override
		TestPool open() {
			return TestPool.postgreSql(PostgreSqlBinary.POSTGRESQL_18);
		}

	}

	/** Nothing but the line tells that the time is over. */
	@Nested
	@RequiresPostgreSql
	class PostgreSqlWithSimpleQueries extends Locks {

		@Override
		TestPool open() {
			return TestPool.postgreSqlWithSimpleQueries(PostgreSqlBinary.POSTGRESQL_18);
		}

		@Override
		void expectHeld(Function<JdbcIdempotencyStore, ClaimResult> claim) {
			expectInTime(claim);
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDb extends Locks {

		@Override
		TestPool open() {
			return TestPool.mariaDb();
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDbThroughTheDriverOfMySql extends Locks {

		@Override
		TestPool open() {
			return TestPool.mariaDbThroughTheDriverOfMySql();
		}

	}

	/** Nothing but the line tells that the time is over. */
	@Nested
	@RequiresMariaDb
	class MySqlStatements extends Locks {

		@Override
		TestPool open() {
			return TestPool.mySqlStatements();
		}

		@Override
		void expectHeld(Function<JdbcIdempotencyStore, ClaimResult> claim) {
			expectInTime(claim);
		}

	}

	@Nested
	@RequiresMySql
	class MySql extends Locks {

		@Override
		TestPool open() {
			return TestPool.mySql();
		}

		@Override
		void expectHeld(Function<JdbcIdempotencyStore, ClaimResult> claim) {
			expectInTime(claim);
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class Locks {

		private TestPool pool;

		private JdbcIdempotencyStore store;

		/** For what the tests do not look at. */
		private JdbcIdempotencyStore patient;

		private TransactionTemplate console;

		abstract TestPool open();

		@BeforeAll
		void start() {
			this.pool = open();
			new JdbcSchema(this.pool.dataSource(), Tables.RECORDS).create();
			this.store = store(this.pool.dataSource());
			this.patient = new JdbcIdempotencyStore(this.pool.dataSource(), Tables.RECORDS, Duration.ofSeconds(1),
					Duration.ofSeconds(TEST_TIMEOUT_SECONDS));
			this.console = new TransactionTemplate(new DataSourceTransactionManager(this.pool.dataSource()));
		}

		@AfterAll
		void stop() {
			this.pool.close();
		}

		@Test
		void renewalOfARowThatSomebodyHoldsEndsInTime() {
			Claim claim = claimed();
			expectFailure(claim.key(), (any) -> any.renew(claim.key(), claim.id(), Requests.LONG));
			assertThat(this.patient.renew(claim.key(), claim.id(), Requests.LONG)).isTrue();
		}

		@Test
		void completionOfARowThatSomebodyHoldsEndsInTime() {
			Claim claim = claimed();
			expectFailure(claim.key(), (any) -> any.complete(Requests.result(claim)));
			assertThat(this.patient.complete(Requests.result(claim))).isTrue();
		}

		@Test
		void releaseOfARowThatSomebodyHoldsEndsInTime() {
			Claim claim = claimed();
			expectFailure(claim.key(), (any) -> any.release(claim.key(), claim.id()));
			assertThat(this.patient.release(claim.key(), claim.id())).isTrue();
		}

		@Test
		void claimOfARowThatSomebodyHoldsEndsInTime() {
			Claim claim = claimed();
			whileHeld(claim.key(), () -> expectInTime((any) -> any.claim(Requests.claim(claim.key()))));
			assertThat(this.patient.claim(Requests.claim(claim.key()))).isInstanceOf(ClaimResult.InProgress.class);
		}

		/** A console holds one row, and all others are renewed at once. */
		@Test
		void rowThatSomebodyHoldsKeepsNoOtherFromBeingRenewed() {
			List<Claim> claims = Stream.generate(this::claimed).limit(50).toList();
			List<Renewal> renewals = claims.stream()
				.map((claim) -> new Renewal(claim.key(), claim.id(), Requests.LONG.multipliedBy(2)))
				.toList();
			Claim held = claims.get(17);
			whileHeld(held.key(), () -> {
				CompletableFuture<Set<ClaimId>> end = OwnThread.supply(() -> this.store.renewAll(renewals));
				assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> end.get(TEST_TIMEOUT_SECONDS, TimeUnit.SECONDS))
					.withCauseInstanceOf(NotAllRenewedException.class)
					.satisfies((ex) -> {
						NotAllRenewedException cause = (NotAllRenewedException) ex.getCause();
						assertThat(cause.notRenewed()).containsExactly(held.id());
						assertThat(cause.refused()).isEmpty();
					});
			});
			List<Duration> rests = claims.stream()
				.map((claim) -> ((ClaimResult.InProgress) this.patient.claim(Requests.claim(claim.key()))).rest())
				.toList();
			assertThat(rests).filteredOn((rest) -> rest.compareTo(Requests.LONG) > 0).hasSize(49);
			assertThat(this.patient.renewAll(renewals)).isEmpty();
		}

		/** One thread, two connections: nobody else could ever end that wait. */
		@Test
		void claimBesideATransactionThatHasClaimedTheKeyIsInProgress() {
			IdempotencyKey key = Requests.key();
			IdempotencyStore joining = this.store.joining().orElseThrow();
			Claim owner = this.console.execute((status) -> {
				Claim joined = Requests.acquired(joining.claim(Requests.claim(key)));
				expectHeld((any) -> any.claim(Requests.claim(key)));
				assertThat(joining.complete(Requests.executed(joined))).isTrue();
				return joined;
			});
			assertThat(this.patient.complete(Requests.result(owner))).isTrue();
			assertThat(this.patient.claim(Requests.claim(key))).isInstanceOf(ClaimResult.Completed.class);
		}

		@Test
		void connectionIsGivenBackAsItWas() throws SQLException {
			SingleConnectionDataSource single = new SingleConnectionDataSource(this.pool.dataSource().getConnection(),
					true);
			try (Connection connection = single.getConnection()) {
				int before = connection.getNetworkTimeout();
				JdbcIdempotencyStore alone = store(single);
				Claim claim = Requests.acquired(alone.claim(Requests.claim(Requests.key())));
				assertThat(alone.complete(Requests.result(claim))).isTrue();
				assertThat(connection.getNetworkTimeout()).isEqualTo(before);
			}
			finally {
				single.destroy();
			}
		}

		void expectHeld(Function<JdbcIdempotencyStore, ClaimResult> claim) {
			assertThat(OwnThread.supply(() -> claim.apply(this.store)))
				.succeedsWithin(Duration.ofSeconds(TEST_TIMEOUT_SECONDS))
				.isInstanceOf(ClaimResult.InProgress.class);
		}

		final void expectInTime(Function<JdbcIdempotencyStore, ClaimResult> claim) {
			CompletableFuture<Object> end = OwnThread.supply(() -> claim.apply(this.store))
				.handle((result, failure) -> (failure != null) ? failure.getCause() : result);
			assertThat(end).succeedsWithin(Duration.ofSeconds(TEST_TIMEOUT_SECONDS))
				.isInstanceOfAny(ClaimResult.InProgress.class, IdempotencyStoreException.class);
		}

		private void expectFailure(IdempotencyKey key, Function<JdbcIdempotencyStore, Boolean> verb) {
			whileHeld(key, () -> {
				CompletableFuture<Boolean> end = OwnThread.supply(() -> verb.apply(this.store));
				assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> end.get(TEST_TIMEOUT_SECONDS, TimeUnit.SECONDS))
					.withCauseInstanceOf(IdempotencyStoreException.class);
			});
		}

		private void whileHeld(IdempotencyKey key, Runnable task) {
			this.console.executeWithoutResult((status) -> {
				assertThat(this.pool.jdbc()
					.queryForList("select attempts from " + Tables.RECORDS + " where key_hash = ? for update",
							Long.class, key.hash()))
					.hasSize(1);
				task.run();
			});
		}

		private Claim claimed() {
			return Requests.acquired(this.patient.claim(Requests.claim(Requests.key())));
		}

	}

	@Nested
	@RequiresPostgreSql
	class PostgreSqlThatIsNotHeard extends Lines {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDbThatIsNotHeard extends Lines {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase();
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDbThatIsNotHeardByTheDriverOfMySql extends Lines {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase().asMySql();
		}

	}

	@Nested
	@RequiresMySql
	class MySqlThatIsNotHeard extends Lines {

		@Override
		SqlDatabase database() {
			return RealMySql.newDatabase();
		}

	}

	abstract static class Lines {

		abstract SqlDatabase database();

		@Test
		void callWhoseReplyDoesNotComeEndsInTime() {
			withLine((line, pool) -> {
				JdbcIdempotencyStore store = store(pool);
				Claim claim = Requests.acquired(store.claim(Requests.claim(Requests.key())));
				line.loseReplies();
				return OwnThread.run(() -> store.complete(Requests.result(claim)));
			});
		}

		@Test
		void joinedCallWhoseReplyDoesNotComeEndsInTime() {
			withLine((line, pool) -> {
				IdempotencyStore joining = store(pool).joining().orElseThrow();
				TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
				CompletableFuture<Void> end = new CompletableFuture<>();
				OwnThread.run(() -> transaction.executeWithoutResult((status) -> {
					Claim joined = Requests.acquired(joining.claim(Requests.claim(Requests.key())));
					line.loseReplies();
					try {
						joining.complete(Requests.executed(joined));
					}
					catch (IdempotencyStoreException ex) {
						end.completeExceptionally(ex);
					}
					line.reconnect();
					status.setRollbackOnly();
				}));
				return end;
			});
		}

		private void withLine(BiFunction<BadLine, HikariDataSource, CompletableFuture<Void>> call) {
			SqlDatabase database = database();
			Tables.create(database);
			try (BadLine line = new BadLine(database.port());
					HikariDataSource pool = database.through(line.port()).pool(2)) {
				// On a slow machine the pool asks a connection first whether it is alive,
				// and
				// then waits for another one.
				pool.setValidationTimeout(500);
				pool.setConnectionTimeout(1_000);
				CompletableFuture<Void> end = call.apply(line, pool);
				assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> end.get(TEST_TIMEOUT_SECONDS, TimeUnit.SECONDS))
					.withCauseInstanceOf(IdempotencyStoreException.class);
				line.reconnect();
			}
		}

	}

	private static JdbcIdempotencyStore store(DataSource dataSource) {
		return new JdbcIdempotencyStore(dataSource, Tables.RECORDS, Duration.ofSeconds(1), STORE_TIMEOUT);
	}

}
