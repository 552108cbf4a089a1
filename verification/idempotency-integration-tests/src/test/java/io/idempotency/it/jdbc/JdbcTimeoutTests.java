package io.idempotency.it.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Requests;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.NotAllRenewedException;
import io.idempotency.store.Renewal;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * No call of the store takes longer than it may, whoever holds the row. The locks of
 * these tests are held until the test has seen the end of the call. They wait together,
 * each for a row of its own.
 */
@EachDatabase(value = { Database.Kind.PRODUCT, Database.Kind.DRIVER, Database.Kind.DIALECT },
		and = Database.POSTGRESQL_WITH_SIMPLE_QUERIES)
@StoreAlone
@Execution(ExecutionMode.CONCURRENT)
class JdbcTimeoutTests {

	private static final long TEST_TIMEOUT_SECONDS = 60;

	private final Database type;

	private final DataSource dataSource;

	private final JdbcIdempotencyStore store;

	/** For what the tests do not look at. */
	private final JdbcIdempotencyStore patient;

	private final TransactionTemplate console;

	JdbcTimeoutTests(TestDatabase database) {
		this.type = database.type();
		HikariDataSource pool = database.share("patient",
				() -> database.address().with(this.type.product().patience()).pool(24));
		this.dataSource = database.asSeenByTheStore(pool);
		this.store = hurried(this.dataSource);
		this.patient = new JdbcIdempotencyStore(this.dataSource, Tables.RECORDS, Duration.ofSeconds(1),
				Duration.ofSeconds(TEST_TIMEOUT_SECONDS));
		this.console = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
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
			CompletableFuture<Set<ClaimId>> end = SchedulerThread.supply(() -> this.store.renewAll(renewals));
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> end.get(TEST_TIMEOUT_SECONDS, TimeUnit.SECONDS))
				.withCauseInstanceOf(NotAllRenewedException.class)
				.satisfies((ex) -> {
					NotAllRenewedException cause = (NotAllRenewedException) ex.getCause();
					assertThat(cause.notRenewed()).containsExactly(held.id());
					assertThat(cause.rejected()).isEmpty();
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
		SingleConnectionDataSource single = new SingleConnectionDataSource(this.dataSource.getConnection(), true);
		try (Connection connection = single.getConnection()) {
			int before = connection.getNetworkTimeout();
			JdbcIdempotencyStore alone = hurried(single);
			Claim claim = Requests.acquired(alone.claim(Requests.claim(Requests.key())));
			assertThat(alone.complete(Requests.result(claim))).isTrue();
			assertThat(connection.getNetworkTimeout()).isEqualTo(before);
		}
		finally {
			single.destroy();
		}
	}

	/** Where a wait does not end by itself, only the line tells that the time is over. */
	private void expectHeld(Function<JdbcIdempotencyStore, ClaimResult> claim) {
		if (!this.type.endsWaitsItself()) {
			expectInTime(claim);
			return;
		}
		assertThat(SchedulerThread.supply(() -> claim.apply(this.store)))
			.succeedsWithin(Duration.ofSeconds(TEST_TIMEOUT_SECONDS))
			.isInstanceOf(ClaimResult.InProgress.class);
	}

	private void expectInTime(Function<JdbcIdempotencyStore, ClaimResult> claim) {
		CompletableFuture<Object> end = SchedulerThread.supply(() -> claim.apply(this.store))
			.handle((result, failure) -> (failure != null) ? failure.getCause() : result);
		assertThat(end).succeedsWithin(Duration.ofSeconds(TEST_TIMEOUT_SECONDS))
			.isInstanceOfAny(ClaimResult.InProgress.class, IdempotencyStoreException.class);
	}

	private void expectFailure(IdempotencyKey key, Function<JdbcIdempotencyStore, Boolean> verb) {
		whileHeld(key, () -> {
			CompletableFuture<Boolean> end = SchedulerThread.supply(() -> verb.apply(this.store));
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> end.get(TEST_TIMEOUT_SECONDS, TimeUnit.SECONDS))
				.withCauseInstanceOf(IdempotencyStoreException.class);
		});
	}

	private void whileHeld(IdempotencyKey key, Runnable task) {
		this.console.executeWithoutResult((status) -> {
			assertThat(new JdbcTemplate(this.dataSource).queryForList(
					"select attempts from " + Tables.RECORDS + " where key_hash = ? for update", Long.class,
					key.hash()))
				.hasSize(1);
			task.run();
		});
	}

	private Claim claimed() {
		return Requests.acquired(this.patient.claim(Requests.claim(Requests.key())));
	}

	/**
	 * A database ends a wait after three quarters of the time of a call. The last quarter
	 * has to be long enough for a machine that does much else.
	 */
	private static JdbcIdempotencyStore hurried(DataSource dataSource) {
		return new JdbcIdempotencyStore(dataSource, Tables.RECORDS, Duration.ofSeconds(1), Duration.ofSeconds(6));
	}

}
