package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import javax.sql.DataSource;

import io.idempotency.RememberedFailureException;
import io.idempotency.it.store.SchedulerThread;
import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * A failure that is remembered with {@code transaction = JOIN} is written after the
 * rollback, and replayed on every node.
 */
@EachDatabase
class JoinedFailureTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final String ref = UUID.randomUUID().toString();

	private final TestDatabase database;

	private final JoinApplication.Orders first;

	private final JoinApplication.Orders second;

	private final PlatformTransactionManager transactionManager;

	JoinedFailureTests(TestDatabase database) {
		this.database = database;
		DataSource pool = database.sharedPool("pool", 6);
		ApplicationContext one = database.share("first", () -> start(pool));
		this.first = one.getBean(JoinApplication.Orders.class);
		this.transactionManager = one.getBean(PlatformTransactionManager.class);
		ApplicationContext other = database.share("second", () -> start(pool));
		this.second = other.getBean(JoinApplication.Orders.class);
	}

	private static ConfigurableApplicationContext start(DataSource pool) {
		return JoinScenarios.start(pool, "idempotency.wait-timeout=1m", "idempotency.lease=1h");
	}

	@Test
	void replaysFailureOnAnotherNodeAfterTheRollback() {
		JoinApplication.Orders work = AopTestUtils.getTargetObject(this.first);
		int before = runs();
		work.ends.clear();
		assertThatIllegalStateException().isThrownBy(() -> placeAndRemember(this.first))
			.withMessageContaining("failed in run");
		assertThatExceptionOfType(RememberedFailureException.class).isThrownBy(() -> placeAndRemember(this.second));
		assertThat(runs()).isEqualTo(before + 1);
		assertThat(work.ends).containsExactly(TransactionSynchronization.STATUS_ROLLED_BACK);
		assertThat(rows()).isZero();
	}

	/** The rollback wakes the duplicate up, and the failure is written after it. */
	@Test
	void duplicateThatWaitsForTheRowRunsOrGetsTheFailure() throws Exception {
		JoinApplication.Orders work = AopTestUtils.getTargetObject(this.first);
		int before = runs();
		work.running = new CountDownLatch(1);
		work.mayEnd = new CountDownLatch(1);
		CompletableFuture<String> owner = SchedulerThread.supply(() -> placeAndRemember(this.first));
		work.running.await();
		CompletableFuture<String> duplicate = SchedulerThread.supply(() -> placeAndRemember(this.second));
		try {
			await().until(this::somebodyWaits);
		}
		finally {
			work.mayEnd.countDown();
		}
		assertThat(owner).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingRootCause()
			.withMessageContaining("failed in run");
		assertThat(duplicate).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingRootCause()
			.withMessageContaining("failed in run");
		assertThat(runs()).isBetween(before + 1, before + 2);
		int after = runs();
		assertThatExceptionOfType(RememberedFailureException.class).isThrownBy(() -> placeAndRemember(this.first));
		assertThatExceptionOfType(RememberedFailureException.class).isThrownBy(() -> placeAndRemember(this.second));
		assertThat(runs()).isEqualTo(after);
		assertThat(rows()).isZero();
	}

	/** Nothing is remembered of a transaction of the caller before that rolls back. */
	@Test
	void replaysFailureAfterTheRollbackOfTheCaller() {
		TransactionTemplate caller = new TransactionTemplate(this.transactionManager);
		int before = runs();
		assertThatIllegalStateException()
			.isThrownBy(() -> caller.executeWithoutResult((status) -> placeAndRemember(this.first)))
			.withMessageContaining("failed in run");
		assertThatExceptionOfType(RememberedFailureException.class).isThrownBy(() -> placeAndRemember(this.second));
		assertThat(runs()).isEqualTo(before + 1);
		assertThat(rows()).isZero();
	}

	private int runs() {
		JoinApplication.Orders here = AopTestUtils.getTargetObject(this.first);
		JoinApplication.Orders there = AopTestUtils.getTargetObject(this.second);
		return here.runs.get() + there.runs.get();
	}

	private int rows() {
		return this.database.jdbc()
			.queryForObject("select count(*) from orders where ref = ?", Integer.class, this.ref);
	}

	private String placeAndRemember(JoinApplication.Orders orders) {
		try {
			return orders.placeAndRemember(this.ref);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private boolean somebodyWaits() {
		return this.database.jdbc()
			.queryForObject(this.database.type().product().waitingTransactions(), Integer.class) > 0;
	}

}
