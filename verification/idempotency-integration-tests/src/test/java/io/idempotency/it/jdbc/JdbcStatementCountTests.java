package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.it.jdbc.CountingDataSource.Counts;
import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What a guarded call costs in statements, each of which is a transaction of its own
 * without a round trip for its commit.
 */
@EachDatabase(value = { Database.Kind.PRODUCT, Database.Kind.VERSION, Database.Kind.DRIVER, Database.Kind.DIALECT },
		having = Product.Trait.SERVER)
class JdbcStatementCountTests {

	private final Dialect dialect;

	private final CountingDataSource dataSource;

	private final JdbcNode node;

	JdbcStatementCountTests(TestDatabase database) {
		database.jdbc().execute("create table if not exists payment (id varchar(36) primary key)");
		this.dialect = database.type().dialect();
		HikariDataSource pool = database.newPool(4);
		this.dataSource = new CountingDataSource(database.asSeenByTheStore(pool));
		this.node = new JdbcNode(this.dataSource, pool);
		// Connects, and asks the database what it has to ask once.
		this.node.execute(freshKey(), () -> "done");
	}

	@AfterEach
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
		expectStatements(this.dialect.duplicate(),
				() -> assertThat(this.node.execute(key, () -> "again")).isEqualTo("done"));
	}

	@Test
	void lookTakesOneStatement() {
		ClaimRequest request = Requests.claim();
		expectStatements(1, () -> assertThat(look(request)).isEmpty());
		Claim claim = Requests.acquire(this.node.store(), request);
		expectStatements(1, () -> assertThat(look(request)).isEmpty());
		this.node.store().complete(Requests.result(claim));
		expectStatements(1, () -> assertThat(look(request)).isPresent());
	}

	@Test
	void duplicateInFlightTakesOneStatementOrTwo() {
		AtomicReference<String> result = new AtomicReference<>();
		String key = freshKey();
		this.node.execute(key, () -> {
			expectStatements(this.dialect.duplicate(),
					() -> assertThatExceptionOfType(IdempotencyInProgressException.class)
						.isThrownBy(() -> this.node.execute(key, () -> "again")));
			result.set("done");
			return "done";
		});
		assertThat(result).hasValue("done");
	}

	@Test
	void keyReusedTakesOneStatementOrTwo() {
		String key = freshKey();
		this.node.call(key).fingerprint("one").execute(String.class, () -> "done");
		expectStatements(this.dialect.duplicate(), () -> assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> this.node.call(key).fingerprint("two").execute(String.class, () -> "again")));
	}

	@Test
	void rejectTakesOneStatementAndItsDuplicateOneMoreThanOthers() {
		String key = freshKey();
		expectStatements(1, () -> this.node.call(key).mode(IdempotencyMode.REJECT).run(() -> {
		}));
		// The last one counts the attempt.
		expectStatements(this.dialect.duplicate() + 1,
				() -> assertThatExceptionOfType(IdempotencyDuplicateException.class)
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
			ClaimRequest request = Requests.claim();
			this.node.store().claim(request);
			renewals.add(new Renewal(request.key(), request.claimId(), Duration.ofMinutes(1)));
		}
		Counts counts = this.dataSource
			.countsOf(() -> assertThat(this.node.store().renewAll(renewals)).as("rejected").isEmpty());
		assertThat(counts.statements()).hasSize(this.dialect.renewal());
		assertThat(counts.connections()).isEqualTo(1);
	}

	@Test
	void joinedCallAddsNoCommitToItsTransaction() {
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
		AtomicReference<Claim> claim = new AtomicReference<>();
		Counts counts = this.dataSource.countsOf(() -> transaction.executeWithoutResult((status) -> {
			new JdbcTemplate(this.dataSource).update("insert into payment values (?)", freshKey());
			claim.set(joinedCall());
		}));
		assertThat(counts.statements()).as("and the payment").hasSize(this.dialect.joined() + 1);
		assertThat(counts.others()).containsExactly("commit");
		assertThat(counts.connections()).isEqualTo(1);
		expectStatements(1, () -> this.node.store().complete(Requests.result(claim.get())));
	}

	/**
	 * PostgreSQL needs no savepoint in a transaction that was begun for the claim, and
	 * the claim bounds its own wait.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void joinedWorkCompletesItsRecordInTheTransaction(boolean alone) {
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
		IdempotencyStore joining = this.node.store().joining().orElseThrow();
		ClaimRequest request = Requests.claim().withNewTransaction(alone);
		AtomicReference<Claim> claim = new AtomicReference<>();
		Counts counts = this.dataSource.countsOf(() -> transaction.executeWithoutResult((status) -> {
			claim.set(Requests.acquire(joining, request));
			new JdbcTemplate(this.dataSource).update("insert into payment values (?)", freshKey());
			joining.complete(Requests.result(claim.get()));
		}));
		assertThat(counts.statements()).as("and the payment").hasSize(this.dialect.joined() + 1);
		assertThat(counts.others()).containsExactly("commit");
		if (this.dialect == Dialect.POSTGRESQL) {
			assertThat(counts.statements().get(0).split(";")).hasSize(alone ? 1 : 5);
		}
		assertThat(this.node.store().claim(request.withClaimId(ClaimId.random())))
			.isInstanceOf(ClaimResult.Completed.class);
	}

	/** The caller has a connection, and a look needs no other one. */
	@Test
	void lookInsideATransactionTakesOneStatementAndNoConnection() {
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
		ClaimRequest request = Requests.claim();
		this.node.store().complete(Requests.result(Requests.acquire(this.node.store(), request)));
		transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		Counts counts = this.dataSource.countsOf(() -> transaction.executeWithoutResult((status) -> {
			assertThat(look(request)).isPresent();
			assertThat(look(Requests.claim())).isEmpty();
		}));
		assertThat(counts.statements()).hasSize(2);
		assertThat(counts.connections()).isEqualTo(1);
		transaction.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		counts = this.dataSource
			.countsOf(() -> transaction.executeWithoutResult((status) -> assertThat(look(request)).isPresent()));
		assertThat(counts.statements()).hasSize(1);
		assertThat(counts.connections()).isEqualTo(2);
	}

	/** Within a transaction. */
	private Claim joinedCall() {
		IdempotencyStore joining = this.node.store().joining().orElseThrow();
		Claim claim = Requests.acquire(joining, Requests.claim());
		joining.complete(Requests.executed(claim));
		return claim;
	}

	private Optional<ClaimResult.Completed> look(ClaimRequest request) {
		return this.node.store().find(request.key(), request.fingerprint());
	}

	private void expectStatements(int expected, Runnable call) {
		Counts counts = this.dataSource.countsOf(call);
		assertThat(counts.statements()).hasSize(expected);
		assertThat(counts.others()).as("further round trips").isEmpty();
		assertThat(counts.connections()).isLessThanOrEqualTo(expected);
	}

	private static String freshKey() {
		return UUID.randomUUID().toString();
	}

}
