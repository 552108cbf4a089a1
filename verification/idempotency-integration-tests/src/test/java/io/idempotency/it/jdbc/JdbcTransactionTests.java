package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.TransactionLostException;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.test.ConcurrentDuplicates;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The store beside and inside the transaction of its caller, on every database.
 */
@EachDatabase({ Database.Kind.PRODUCT, Database.Kind.VERSION, Database.Kind.MODE, Database.Kind.DRIVER,
		Database.Kind.DIALECT, Database.Kind.PROTOCOL })
class JdbcTransactionTests {

	private final TestDatabase database;

	private final DataSource dataSource;

	private final JdbcTemplate jdbc;

	private final JdbcIdempotencyStore store;

	private final IdempotencyStore joining;

	private final TransactionTemplate transaction;

	private final String lockTimeout;

	JdbcTransactionTests(TestDatabase database) {
		this.database = database;
		this.dataSource = database.sharedPool("pool", 24);
		this.jdbc = new JdbcTemplate(this.dataSource);
		this.jdbc.execute("create table if not exists work_done (id varchar(100) not null)");
		this.store = Tables.store(this.dataSource);
		this.lockTimeout = database.type().product().lockTimeout();
		this.joining = this.store.joining().orElseThrow();
		this.transaction = transaction(TransactionDefinition.ISOLATION_DEFAULT);
	}

	private TransactionTemplate transaction(int isolation) {
		TransactionTemplate template = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
		template.setIsolationLevel(isolation);
		return template;
	}

	private IdempotencyStore waiting(Duration timeout) {
		return Tables.store(this.dataSource, timeout).joining().orElseThrow();
	}

	private void work(IdempotencyKey key) {
		this.jdbc.update("insert into work_done (id) values (?)", key.hashHex());
	}

	private int workDone(IdempotencyKey key) {
		return this.jdbc.queryForObject("select count(*) from work_done where id = ?", Integer.class, key.hashHex());
	}

	@Test
	void executedCommitsWithTheWorkAndGetsItsResultAfterwards() {
		IdempotencyKey key = Requests.key();
		Claim claim = this.transaction.execute((status) -> {
			Claim joined = Requests.acquired(this.joining.claim(Requests.claim(key)));
			work(key);
			assertThat(this.joining.complete(Requests.executed(joined))).isTrue();
			return joined;
		});
		assertThat(workDone(key)).isOne();
		assertThat(this.store.claim(Requests.claim(key))).isInstanceOf(ClaimResult.InProgress.class);
		assertThat(this.store.complete(Requests.result(claim))).isTrue();
		assertThat(this.store.claim(Requests.claim(key))).isInstanceOf(ClaimResult.Completed.class);
	}

	@Test
	void resultThatIsKnownInsideCommitsWithTheWork() {
		IdempotencyKey key = Requests.key();
		this.transaction.executeWithoutResult((status) -> {
			Claim joined = Requests.acquired(this.joining.claim(Requests.claim(key)));
			work(key);
			assertThat(this.joining.complete(Requests.result(joined))).isTrue();
		});
		assertThat(this.joiningClaim(key)).isInstanceOf(ClaimResult.Completed.class);
	}

	/**
	 * As where the driver has connected anew by itself: the claim is gone, and the work.
	 */
	@Test
	void endOfAClaimThatIsNotInTheTransactionIsRejected() {
		IdempotencyKey key = Requests.key();
		Claim claim = Requests.acquired(this.store.claim(Requests.claim(key)));
		this.store.release(key, claim.id());
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.joining.complete(Requests.result(claim))).isFalse();
			assertThat(this.joining.complete(Requests.executed(claim))).isFalse();
			assertThat(this.joining.complete(Completion.forget(claim, Fingerprint.NONE))).isFalse();
		});
		assertThat(Requests.acquired(this.store.claim(Requests.claim(key))).abandoned()).isFalse();
	}

	@Test
	void nothingIsLeftOfARollback() {
		IdempotencyKey key = Requests.key();
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
			Requests.acquired(this.joining.claim(Requests.claim(key)));
			work(key);
			throw new IllegalStateException("failed");
		}));
		assertThat(workDone(key)).isZero();
		assertThat(Requests.acquired(this.store.claim(Requests.claim(key))).abandoned()).isFalse();
	}

	@Test
	void silentRollbackLeavesNoRecordThatSaysItWasDone() {
		IdempotencyKey key = Requests.key();
		this.transaction.executeWithoutResult((status) -> {
			Claim joined = Requests.acquired(this.joining.claim(Requests.claim(key)));
			work(key);
			this.joining.complete(Requests.executed(joined));
			status.setRollbackOnly();
		});
		assertThat(workDone(key)).isZero();
		assertThat(Requests.acquired(this.store.claim(Requests.claim(key))).abandoned()).isFalse();
	}

	@Test
	void releasedInsideIsAbsentAfterTheCommit() {
		IdempotencyKey key = Requests.key();
		this.transaction.executeWithoutResult((status) -> {
			Claim joined = Requests.acquired(this.joining.claim(Requests.claim(key)));
			assertThat(this.joining.release(key, joined.id())).isTrue();
		});
		assertThat(Requests.acquired(this.store.claim(Requests.claim(key))).abandoned()).isFalse();
	}

	@Test
	void duplicateAfterTheCommitDoesNotAbortItsTransaction() {
		IdempotencyKey first = Requests.key();
		IdempotencyKey second = Requests.key();
		this.transaction.executeWithoutResult((status) -> {
			Claim joined = Requests.acquired(this.joining.claim(Requests.claim(first)));
			this.joining.complete(Requests.executed(joined));
		});
		this.transaction.executeWithoutResult((status) -> {
			work(second);
			assertThat(this.joining.claim(Requests.claim(first))).isInstanceOf(ClaimResult.InProgress.class);
			work(second);
		});
		assertThat(workDone(second)).isEqualTo(2);
	}

	@Test
	void nestedCallWithTheSameKeyIsInProgress() {
		IdempotencyKey key = Requests.key();
		this.transaction.executeWithoutResult((status) -> {
			Requests.acquired(this.joining.claim(Requests.claim(key)));
			assertThat(this.joining.claim(Requests.claim(key))).isInstanceOf(ClaimResult.InProgress.class);
			work(key);
		});
		assertThat(workDone(key)).isOne();
	}

	@Test
	void claimSentOnceMoreInsideFindsItself() {
		var request = Requests.claim(Requests.key());
		this.transaction.executeWithoutResult((status) -> {
			Claim joined = Requests.acquired(this.joining.claim(request));
			assertThat(Requests.acquired(this.joining.claim(request))).isEqualTo(joined);
		});
	}

	@Test
	void abandonedClaimIsTakenOverInside() {
		IdempotencyKey key = Requests.key();
		Claim dead = Requests.acquired(this.store.claim(Requests.claim(key, Requests.SHORT, Requests.LONG)));
		this.transaction.executeWithoutResult((status) -> {
			Claim joined = Requests.acquired(this.joining.claim(Requests.claim(key)));
			assertThat(joined.abandoned()).isTrue();
			assertThat(joined.fencingToken()).isGreaterThan(dead.fencingToken());
			this.joining.complete(Requests.result(joined));
		});
		assertThat(this.store.claim(Requests.claim(key))).isInstanceOf(ClaimResult.Completed.class);
	}

	@Test
	void expiredRecordIsAbsentInside() {
		IdempotencyKey key = Requests.key();
		this.store.claim(Requests.claim(key, Requests.SHORT, Requests.SHORT));
		this.transaction.executeWithoutResult(
				(status) -> assertThat(Requests.acquired(this.joining.claim(Requests.claim(key))).abandoned())
					.isFalse());
	}

	@Test
	void thereMustBeATransactionOfThisDataSource() {
		assertThatIllegalStateException().isThrownBy(() -> this.joining.claim(Requests.claim(Requests.key())))
			.withMessageContaining("No transaction is available")
			.withMessageContaining("@Primary");
		DataSource other = Database.H2.newDatabase().unpooled();
		new TransactionTemplate(new DataSourceTransactionManager(other)).executeWithoutResult((status) -> {
			this.jdbc.queryForObject("select count(*) from work_done", Long.class);
			assertThatIllegalStateException().isThrownBy(() -> this.joining.claim(Requests.claim(Requests.key())))
				.withMessageContaining("No transaction is available");
		});
	}

	@Test
	void duplicateWaitsForTheOwnerAndSeesItsResult() throws Exception {
		IdempotencyKey key = Requests.key();
		ClaimResult answer = besideAnOwner(key, waiting(Duration.ofMinutes(1)), true);
		assertThat(answer).isInstanceOf(ClaimResult.Completed.class);
	}

	@Test
	void duplicateOfAnOwnerThatRolledBackIsAcquired() throws Exception {
		IdempotencyKey key = Requests.key();
		ClaimResult answer = besideAnOwner(key, waiting(Duration.ofMinutes(1)), false);
		assertThat(Requests.acquired(answer).abandoned()).isFalse();
	}

	/** What a duplicate gets that waits for the owner. */
	private ClaimResult besideAnOwner(IdempotencyKey key, IdempotencyStore patient, boolean commit) throws Exception {
		CountDownLatch claimed = new CountDownLatch(1);
		CompletableFuture<Void> owner = SchedulerThread.run(() -> this.transaction.executeWithoutResult((status) -> {
			Claim joined = Requests.acquired(this.joining.claim(Requests.claim(key)));
			claimed.countDown();
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(this::somebodyWaits);
			this.joining.complete(Requests.result(joined));
			if (!commit) {
				status.setRollbackOnly();
			}
		}));
		await(claimed);
		CompletableFuture<ClaimResult> duplicate = SchedulerThread
			.supply(() -> this.transaction.execute((status) -> patient.claim(Requests.claim(key))));
		owner.get(1, TimeUnit.MINUTES);
		return duplicate.get(1, TimeUnit.MINUTES);
	}

	/** Asked by a connection of its own. */
	private boolean somebodyWaits() {
		return this.database.jdbc()
			.queryForObject(this.database.type().product().waitingTransactions(), Integer.class) == 1;
	}

	@Test
	void duplicateWaitsNoLongerThanItMayAndItsTransactionGoesOn() throws Exception {
		IdempotencyKey key = Requests.key();
		IdempotencyKey other = Requests.key();
		CountDownLatch claimed = new CountDownLatch(1);
		CountDownLatch rejected = new CountDownLatch(1);
		CompletableFuture<Void> owner = SchedulerThread.run(() -> this.transaction.executeWithoutResult((status) -> {
			Requests.acquired(this.joining.claim(Requests.claim(key)));
			claimed.countDown();
			await(rejected);
		}));
		await(claimed);
		try {
			this.transaction.executeWithoutResult((status) -> {
				Object before = this.jdbc.queryForObject(this.lockTimeout, Object.class);
				work(other);
				assertThat(waiting(Duration.ofMillis(200)).claim(Requests.claim(key)))
					.isInstanceOf(ClaimResult.InProgress.class);
				work(other);
				assertThat(this.jdbc.queryForObject(this.lockTimeout, Object.class)).isEqualTo(before);
				assertThat(this.joining.claim(Requests.claim(Requests.key()))).isInstanceOf(ClaimResult.Acquired.class);
				assertThat(this.jdbc.queryForObject(this.lockTimeout, Object.class)).isEqualTo(before);
			});
		}
		finally {
			rejected.countDown();
		}
		owner.get(1, TimeUnit.MINUTES);
		assertThat(workDone(other)).isEqualTo(2);
	}

	/**
	 * The duplicate's snapshot is older than the record. It may be told the result or to
	 * come again; it must not run, and its transaction goes on.
	 */
	@Test
	void duplicateAtRepeatableReadNeverRuns() {
		IdempotencyKey key = Requests.key();
		IdempotencyKey other = Requests.key();
		AtomicInteger lost = new AtomicInteger();
		try {
			transaction(TransactionDefinition.ISOLATION_REPEATABLE_READ).executeWithoutResult((status) -> {
				assertThat(workDone(key)).isZero();
				SchedulerThread.run(() -> runOnce(key, true)).join();
				assertThat(this.joining.claim(Requests.claim(key))).isInstanceOfAny(ClaimResult.Completed.class,
						ClaimResult.InProgress.class);
				work(other);
			});
		}
		catch (TransactionLostException ex) {
			lost.incrementAndGet();
		}
		assertThat(workDone(other) + lost.get()).isOne();
		assertThat(this.joiningClaim(key)).isInstanceOf(ClaimResult.Completed.class);
	}

	/** MariaDB since 11.6.2 by default. */
	@Test
	void conflictWithASnapshotIsAConcurrencyFailure() {
		assumeThat(this.database.type().product()).isEqualTo(Product.MARIADB);
		IdempotencyKey key = Requests.key();
		assertThatExceptionOfType(TransactionLostException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				this.jdbc.execute("SET SESSION innodb_snapshot_isolation = ON");
				try {
					assertThat(workDone(key)).isZero();
					SchedulerThread.run(() -> runOnce(key, true)).join();
					this.joining.claim(Requests.claim(key));
				}
				finally {
					this.jdbc.execute("SET SESSION innodb_snapshot_isolation = OFF");
				}
			}))
			.withCauseInstanceOf(ConcurrencyFailureException.class);
	}

	@Test
	void stormOfTransactionsWithRollbacksRunsEachKeyOnce() {
		List<IdempotencyKey> keys = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			keys.add(Requests.key());
		}
		for (IdempotencyKey key : keys) {
			AtomicInteger calls = new AtomicInteger();
			ConcurrentDuplicates.of(16).run((index) -> {
				// every fourth run fails, and then another one must do it
				while (!runOnce(key, calls.incrementAndGet() % 4 != 0)) {
					Thread.onSpinWait();
				}
				return index;
			}).valuesOrFail();
			assertThat(workDone(key)).isOne();
		}
	}

	/** Whether the key is done when it comes back. */
	private boolean runOnce(IdempotencyKey key, boolean commit) {
		try {
			return this.transaction.execute((status) -> {
				ClaimResult result = this.joining.claim(Requests.claim(key));
				if (!(result instanceof ClaimResult.Acquired acquired)) {
					return result instanceof ClaimResult.Completed;
				}
				work(key);
				this.joining.complete(Requests.result(acquired.claim()));
				if (!commit) {
					status.setRollbackOnly();
				}
				return commit;
			});
		}
		catch (TransactionLostException ex) {
			return false;
		}
	}

	@Test
	void claimBesideTheCallersTransactionNeitherJoinsNorHarmsIt() {
		IdempotencyKey key = Requests.key();
		IdempotencyKey other = Requests.key();
		JdbcIdempotencyStore separate = new JdbcIdempotencyStore(new TransactionAwareDataSourceProxy(this.dataSource));
		this.transaction.executeWithoutResult((status) -> {
			work(other);
			Requests.acquired(separate.claim(Requests.claim(key)));
			assertThat(separate.claim(Requests.claim(key))).isInstanceOf(ClaimResult.InProgress.class);
			assertThat(this.store.claim(Requests.claim(key))).isInstanceOf(ClaimResult.InProgress.class);
			work(other);
		});
		assertThat(workDone(other)).isEqualTo(2);
		IdempotencyKey rolledBack = Requests.key();
		this.transaction.executeWithoutResult((status) -> {
			Requests.acquired(separate.claim(Requests.claim(rolledBack)));
			status.setRollbackOnly();
		});
		assertThat(this.store.claim(Requests.claim(rolledBack))).isInstanceOf(ClaimResult.InProgress.class);
	}

	/** Under every isolation: the caller's own reading begins its view, not the look. */
	@ParameterizedTest
	@ValueSource(ints = { TransactionDefinition.ISOLATION_DEFAULT, TransactionDefinition.ISOLATION_READ_COMMITTED,
			TransactionDefinition.ISOLATION_REPEATABLE_READ, TransactionDefinition.ISOLATION_SERIALIZABLE })
	void lookLeavesTheViewOfItsCallerAsItWas(int isolation) {
		IdempotencyKey key = Requests.key();
		IdempotencyKey other = Requests.key();
		this.store.complete(Requests.result(Requests.acquire(this.store, Requests.claim(key))));
		transaction(isolation).executeWithoutResult((status) -> {
			assertThat(look(key)).isPresent();
			assertThat(look(other)).isEmpty();
			assertThat(this.store.claim(Requests.claim(other))).isInstanceOf(ClaimResult.Acquired.class);
			SchedulerThread.run(() -> work(other)).join();
			assertThat(workDone(other)).isOne();
		});
	}

	/**
	 * A stored record in the same transaction is not there for others, and may vanish.
	 */
	@Test
	void lookInsideSeesWhatItsTransactionHasWritten() {
		IdempotencyKey key = Requests.key();
		transaction(TransactionDefinition.ISOLATION_READ_COMMITTED).executeWithoutResult((status) -> {
			Claim joined = Requests.acquired(this.joining.claim(Requests.claim(key)));
			this.joining.complete(Requests.result(joined));
			// On H2, the look is in a transaction of its own.
			assertThat(look(key).isPresent()).isEqualTo(this.database.type().product() != Product.H2);
			assertThat(SchedulerThread.supply(() -> look(key)).join()).isEmpty();
			status.setRollbackOnly();
		});
		assertThat(look(key)).isEmpty();
	}

	/** A row that somebody has locked is read all the same. */
	@Test
	void lookInsideWaitsForNobody() {
		IdempotencyKey key = Requests.key();
		this.store.complete(Requests.result(Requests.acquire(this.store, Requests.claim(key))));
		this.transaction.executeWithoutResult((console) -> {
			assertThat(
					this.jdbc.queryForList("select attempts from " + Tables.RECORDS + " where key_hash = ? for update",
							Long.class, key.hash()))
				.hasSize(1);
			SchedulerThread
				.run(() -> transaction(TransactionDefinition.ISOLATION_READ_COMMITTED)
					.executeWithoutResult((status) -> assertThat(look(key)).isPresent()))
				.join();
		});
	}

	private Optional<ClaimResult.Completed> look(IdempotencyKey key) {
		return this.store.find(key, Fingerprint.NONE);
	}

	private ClaimResult joiningClaim(IdempotencyKey key) {
		return this.transaction.execute((status) -> this.joining.claim(Requests.claim(key)));
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
