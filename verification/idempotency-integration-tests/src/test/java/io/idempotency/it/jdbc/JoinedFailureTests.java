package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import javax.sql.DataSource;

import io.idempotency.RememberedFailureException;
import io.idempotency.it.store.OwnThread;
import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.support.TransactionSynchronization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A failure that is remembered with {@code transaction = JOIN} is kept before a duplicate
 * of another node, which waits on the row of the record, can run.
 */
@EachDatabase
class JoinedFailureTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final String ref = UUID.randomUUID().toString();

	private final TestDatabase database;

	private final JoinApplication.Orders first;

	private final JoinApplication.Orders second;

	JoinedFailureTests(TestDatabase database) {
		this.database = database;
		DataSource pool = database.sharedPool("pool", 6);
		this.first = database.share("first", () -> start(pool)).getBean(JoinApplication.Orders.class);
		ApplicationContext other = database.share("second", () -> start(pool));
		this.second = other.getBean(JoinApplication.Orders.class);
	}

	private static ConfigurableApplicationContext start(DataSource pool) {
		return JoinScenarios.start(pool, "idempotency.wait-timeout=1m", "idempotency.lease=1h");
	}

	@Test
	void duplicateThatWaitsOnTheRowGetsTheFailure() throws Exception {
		JoinApplication.Orders work = AopTestUtils.getTargetObject(this.first);
		JoinApplication.Orders other = AopTestUtils.getTargetObject(this.second);
		int before = other.runs.get();
		work.running = new CountDownLatch(1);
		work.mayEnd = new CountDownLatch(1);
		CompletableFuture<String> owner = OwnThread.supply(() -> placeAndRemember(this.first));
		work.running.await();
		CompletableFuture<String> duplicate = OwnThread.supply(() -> placeAndRemember(this.second));
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
			.isInstanceOf(RememberedFailureException.class);
		assertThat(other.runs).hasValue(before);
		assertThat(work.ends).containsExactly(TransactionSynchronization.STATUS_ROLLED_BACK);
		assertThat(this.database.jdbc()
			.queryForObject("select count(*) from orders where ref = ?", Integer.class, this.ref)).isZero();
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
