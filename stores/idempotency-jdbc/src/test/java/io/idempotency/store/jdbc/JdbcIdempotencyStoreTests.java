package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.StoredResult;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.store.sql.Dialect.Timeouts;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.ArgumentMatchers.intThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.verify;

class JdbcIdempotencyStoreTests {

	private final H2Database database = H2Database.withTable();

	@Test
	void constructorConnectsToNothing() {
		DataSource dataSource = mock(DataSource.class, (invocation) -> {
			if (invocation.getMethod().getName().equals("isWrapperFor")) {
				throw new IllegalStateException("There is nothing to choose yet");
			}
			throw new AssertionError("connected");
		});
		assertThat(new JdbcIdempotencyStore(dataSource, "app.calls").joining()).isPresent();
	}

	@Test
	void namesThePoolerWhenARenewalIsNotInTime() throws SQLException {
		Connection connection = mock(Connection.class);
		given(connection.getMetaData()).willAnswer((call) -> {
			long end = System.nanoTime() + Duration.ofMillis(20).toNanos();
			while (System.nanoTime() - end <= 0) {
				LockSupport.parkNanos(1_000_000);
			}
			return this.database.dataSource().getConnection().getMetaData();
		});
		given(connection.prepareStatement(any(), anyInt())).willThrow(new SQLException("closed", "08006"));
		given(connection.createStatement()).willReturn(mock(Statement.class));
		DataSource dataSource = mock(DataSource.class);
		given(dataSource.getConnection()).willReturn(connection);
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(dataSource, null, JdbcIdempotencyStore.DEFAULT_TABLE_NAME,
				Duration.ofMillis(10), Duration.ofMillis(10));
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> store.renew(request("secret").key(), ClaimId.random(), Duration.ofSeconds(30)))
			.withMessageContaining("'renew' in time")
			.withMessageContaining("connection pooler has no free server connection");
	}

	@Test
	void databaseThatIsDownIsAStoreException() throws SQLException {
		DataSource dataSource = mock(DataSource.class);
		SQLException down = new SQLTransientConnectionException("pool is empty", "08001");
		given(dataSource.getConnection()).willThrow(down);
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(dataSource);
		assertThatExceptionOfType(StoreNotReachedException.class).isThrownBy(() -> store.claim(request("secret")))
			.withMessageContaining("claim")
			.withMessageContaining("08001")
			.withCause(down)
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("secret"));
	}

	@Test
	void poolThatThrowsSomethingElseIsAStoreException() throws SQLException {
		DataSource dataSource = mock(DataSource.class);
		given(dataSource.getConnection()).willThrow(new IllegalStateException("pool is closed"));
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(dataSource);
		assertThatExceptionOfType(StoreNotReachedException.class)
			.isThrownBy(() -> store.release(request("key").key(), ClaimId.random()))
			.withMessageContaining("release");
	}

	@Test
	void poolThatConnectsLateIsNotReachedEither() throws SQLException {
		DataSource dataSource = mock(DataSource.class);
		given(dataSource.getConnection()).willThrow(new SQLTransientConnectionException("pool is empty", "08001"));
		LazyConnectionDataSourceProxy lazy = new LazyConnectionDataSourceProxy();
		lazy.setTargetDataSource(dataSource);
		lazy.setDefaultAutoCommit(true);
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(lazy);
		assertThatExceptionOfType(StoreNotReachedException.class).isThrownBy(() -> store.claim(request("secret")))
			.withMessageContaining("08001");
	}

	/**
	 * Else a call that has waited for its connection is late, and its connection given
	 * up, so that the next calls wait, too.
	 */
	@Test
	void waitForAConnectionTakesNoTimeFromTheStatement() throws SQLException {
		Connection connection = mock(Connection.class);
		DataSource late = mock(DataSource.class);
		given(late.getConnection()).willAnswer((invocation) -> {
			long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
			while (System.nanoTime() - end < 0) {
				LockSupport.parkNanos(end - System.nanoTime());
			}
			return connection;
		});
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(late, "calls", Duration.ofSeconds(1),
				Duration.ofSeconds(60));
		assertThat(catchThrowable(() -> store.claim(request("key")))).isNotNull();
		verify(connection, atLeastOnce()).setNetworkTimeout(any(), intThat((millis) -> millis > 58_000));
	}

	@Test
	void recordOfANewerVersionIsNotAbsent() {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(this.database.dataSource());
		store.claim(request("secret"));
		this.database.jdbc().update("update idempotency_record set state = 'Z'");
		assertThatExceptionOfType(UnreadableRecordException.class).isThrownBy(() -> store.claim(request("secret")))
			.withMessageContaining("'Z'")
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("secret"));
	}

	@Test
	void joinedTransactionThatHasNoConnectionYetIsNotReached() throws SQLException {
		DataSource dataSource = mock(DataSource.class);
		given(dataSource.getConnection()).willThrow(new SQLTransientConnectionException("pool is empty", "08001"));
		LazyConnectionDataSourceProxy lazy = new LazyConnectionDataSourceProxy();
		lazy.setTargetDataSource(dataSource);
		lazy.setDefaultAutoCommit(true);
		IdempotencyStore joining = new JdbcIdempotencyStore(lazy).joining().orElseThrow();
		new TransactionTemplate(new DataSourceTransactionManager(lazy))
			.executeWithoutResult((status) -> assertThatExceptionOfType(StoreNotReachedException.class)
				.isThrownBy(() -> joining.claim(request("secret"))));
	}

	@Test
	void brokenStatementMayHaveBeenApplied() throws SQLException {
		Connection connection = spy(this.database.dataSource().getConnection());
		given(connection.prepareStatement(anyString(), anyInt()))
			.willThrow(new SQLTransientConnectionException("line is cut", "08006"));
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(always(connection));
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.claim(request("key")))
			.isNotInstanceOf(StoreNotReachedException.class);
	}

	@Test
	void driverWithoutATimeoutForItsLineIsUsedAsItIs() throws SQLException {
		Connection connection = spy(this.database.dataSource().getConnection());
		given(connection.getNetworkTimeout()).willThrow(new SQLFeatureNotSupportedException("none"));
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(always(connection));
		assertThat(store.claim(request("key"))).isInstanceOf(ClaimResult.Acquired.class);
		verify(connection, never()).setNetworkTimeout(any(), anyInt());
	}

	@Test
	void shorterTimeoutOfTheConnectionIsLeftAlone() throws SQLException {
		Connection connection = spy(this.database.dataSource().getConnection());
		given(connection.getNetworkTimeout()).willReturn(500);
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(always(connection));
		assertThat(store.claim(request("key"))).isInstanceOf(ClaimResult.Acquired.class);
		verify(connection, atLeastOnce()).setNetworkTimeout(any(), eq(500));
		verify(connection, never()).setNetworkTimeout(any(), intThat((millis) -> millis != 500));
	}

	@Test
	void statementWaitsForTheRestOfTheTimeOnly() throws SQLException {
		Connection connection = spy(this.database.dataSource().getConnection());
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(always(connection),
				JdbcIdempotencyStore.DEFAULT_TABLE_NAME, Duration.ofSeconds(5), Duration.ofSeconds(3));
		store.claim(request("key"));
		verify(connection, atLeastOnce()).setNetworkTimeout(any(), intThat((millis) -> millis > 0 && millis <= 3001));
		verify(connection, never()).setNetworkTimeout(any(), intThat((millis) -> millis > 3001));
		InOrder order = inOrder(connection);
		order.verify(connection).setNetworkTimeout(any(), eq(0));
		order.verify(connection).close();
	}

	@Test
	void timeoutsAreChecked() {
		DataSource dataSource = this.database.dataSource();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new JdbcIdempotencyStore(dataSource, JdbcIdempotencyStore.DEFAULT_TABLE_NAME,
					Duration.ZERO, Duration.ofSeconds(2)))
			.withMessageContaining("waitTimeout");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new JdbcIdempotencyStore(dataSource, JdbcIdempotencyStore.DEFAULT_TABLE_NAME,
					Duration.ofSeconds(1), Duration.ofNanos(1)))
			.withMessageContaining("storeTimeout");
	}

	@Test
	void missingTableIsAStoreException() {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(this.database.dataSource(), "no_such_table");
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.claim(request("key")));
	}

	@Test
	void connectionIsClosedAfterAFailure() throws SQLException {
		Connection connection = spy(this.database.dataSource().getConnection());
		given(connection.prepareStatement(anyString(), anyInt())).willThrow(new SQLException("broken"));
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(always(connection));
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.claim(request("key")));
		verify(connection).close();
	}

	@Test
	void connectionThatCannotBeClosedDoesNotMakeASuccessAFailure() throws SQLException {
		Connection connection = spy(this.database.dataSource().getConnection());
		doThrow(new SQLException("broken")).when(connection).close();
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(always(connection));
		assertThat(store.claim(request("key"))).isInstanceOf(ClaimResult.Acquired.class);
	}

	@Test
	void poolThatFailsInItsOwnWayAfterTheWorkMakesNoSuccessAFailure() throws SQLException {
		Connection connection = spy(this.database.dataSource().getConnection());
		doThrow(new IllegalStateException("pool")).when(connection).setNetworkTimeout(any(), eq(0));
		doThrow(new IllegalStateException("pool")).when(connection).close();
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(always(connection));
		assertThat(store.claim(request("key"))).isInstanceOf(ClaimResult.Acquired.class);
		verify(connection).close();
	}

	@Test
	void autoCommitIsRestoredWhereTheRollbackFailed() throws SQLException {
		Connection connection = spy(this.database.dataSource().getConnection());
		given(connection.prepareStatement(anyString(), anyInt())).willThrow(new SQLException("broken"));
		doThrow(new SQLException("broken, too")).when(connection).rollback();
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(always(connection));
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.purge(10));
		InOrder order = inOrder(connection);
		order.verify(connection).rollback();
		order.verify(connection).setAutoCommit(true);
		order.verify(connection).close();
	}

	@Test
	void onlyTokensAreIssued() {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(this.database.dataSource());
		assertThatIllegalArgumentException().isThrownBy(() -> store.issue(request("key").key(), Duration.ofMinutes(1)));
	}

	@Test
	void transactionAwareProxyIsLookedThrough() {
		JdbcDatabase unwrapped = new JdbcDatabase(
				new TransactionAwareDataSourceProxy(new TransactionAwareDataSourceProxy(this.database.dataSource())),
				JdbcIdempotencyStore.DEFAULT_TABLE_NAME, Timeouts.DEFAULT, null);
		assertThat(unwrapped.dataSource()).isSameAs(this.database.dataSource());
	}

	/** It would be the connection of the caller's transaction, which a verb commits. */
	@Test
	void transactionAwareProxyIsFoundBehindDecorators() {
		DataSource decorated = new DelegatingDataSource(
				new DelegatingDataSource(new TransactionAwareDataSourceProxy(this.database.dataSource())));
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(decorated);
		this.database.jdbc().execute("create table payment (id int)");
		new TransactionTemplate(new DataSourceTransactionManager(this.database.dataSource()))
			.executeWithoutResult((status) -> {
				this.database.jdbc().update("insert into payment values (1)");
				assertThat(store.claim(request("key"))).isInstanceOf(ClaimResult.Acquired.class);
				status.setRollbackOnly();
			});
		assertThat(this.database.jdbc().queryForObject("select count(*) from payment", Long.class)).isZero();
		assertThat(store.claim(request("key"))).isInstanceOf(ClaimResult.InProgress.class);
	}

	/** The clock of H2 stands still within a transaction. */
	@Test
	void resultThatHasExpiredIsNotReplayedInsideATransactionThatBeganBefore() {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(this.database.dataSource());
		ClaimRequest request = request("key");
		Claim claim = ((ClaimResult.Acquired) store.claim(request)).claim();
		store.complete(
				Completion.result(claim, Fingerprint.NONE, new StoredResult("test", new byte[1]), Duration.ofHours(1)));
		new TransactionTemplate(new DataSourceTransactionManager(this.database.dataSource()))
			.executeWithoutResult((status) -> {
				this.database.jdbc().queryForList("select current_timestamp");
				assertThat(store.find(request.key(), Fingerprint.NONE)).isPresent();
				CompletableFuture
					.runAsync(() -> this.database.jdbc()
						.update("update idempotency_record set kept_until ="
								+ " cast(extract(epoch from current_timestamp) * 1000000 as bigint)"))
					.join();
				assertThat(store.find(request.key(), Fingerprint.NONE)).isEmpty();
			});
	}

	private DataSource always(Connection connection) {
		return new DelegatingDataSource(this.database.dataSource()) {

			@Override
			public Connection getConnection() {
				return connection;
			}

		};
	}

	private static ClaimRequest request(String key) {
		return ClaimRequest.of(IdempotencyKey.of("jdbc", Caller.GLOBAL, key), Duration.ofMinutes(1),
				Duration.ofHours(1));
	}

}
