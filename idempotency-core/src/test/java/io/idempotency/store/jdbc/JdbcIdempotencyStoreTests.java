package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;

import javax.sql.DataSource;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStoreException;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.verify;

class JdbcIdempotencyStoreTests {

	private final H2Database database = H2Database.withTable();

	@Test
	void constructorConnectsToNothing() {
		DataSource dataSource = mock(DataSource.class, (invocation) -> {
			throw new AssertionError("connected");
		});
		assertThat(new JdbcIdempotencyStore(dataSource, "app.calls").joining()).isPresent();
	}

	@Test
	void databaseThatIsDownIsAStoreException() throws SQLException {
		DataSource dataSource = mock(DataSource.class);
		SQLException down = new SQLTransientConnectionException("pool is empty", "08001");
		given(dataSource.getConnection()).willThrow(down);
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(dataSource);
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.claim(request("secret")))
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
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> store.release(request("key").key(), ClaimId.random()))
			.withMessageContaining("release");
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
	void onlyTokensAreIssued() {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(this.database.dataSource());
		assertThatIllegalArgumentException().isThrownBy(() -> store.issue(request("key").key(), Duration.ofMinutes(1)));
	}

	@Test
	void transactionAwareProxyIsLookedThrough() {
		JdbcDatabase unwrapped = new JdbcDatabase(
				new TransactionAwareDataSourceProxy(new TransactionAwareDataSourceProxy(this.database.dataSource())),
				new TableName(TableName.DEFAULT));
		assertThat(unwrapped.dataSource()).isSameAs(this.database.dataSource());
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
		return new ClaimRequest(IdempotencyKey.of("jdbc", Caller.GLOBAL, key), ClaimId.random(), Fingerprint.NONE,
				ClaimType.LEASED, Duration.ofMinutes(1), Duration.ofHours(1), true);
	}

}
