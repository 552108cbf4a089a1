package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * InnoDB ends deadlocks by rolling one transaction back, and sometimes that is ours.
 */
@EachDatabase(having = Product.Trait.INNODB)
class JdbcDeadlockTests {

	private final TestDatabase database;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final JdbcNode node;

	JdbcDeadlockTests(TestDatabase database) {
		this.database = database;
		HikariDataSource pool = database.newPool(8);
		this.jdbc = new JdbcTemplate(pool);
		this.jdbc.execute("create table ballast (id int primary key)");
		this.transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
		this.node = new JdbcNode(pool);
	}

	@AfterEach
	void stop() {
		this.node.close();
	}

	@Test
	void completionThatIsTheVictimOfADeadlockIsRepeated() throws Exception {
		Claim claim = Requests.acquire(this.node.store(), Requests.claim());
		long before = deadlocks();
		CompletableFuture<Boolean> completion = new CompletableFuture<>();
		this.transaction.executeWithoutResult((status) -> {
			// The heavier transaction is spared.
			for (int i = 0; i < 200; i++) {
				this.jdbc.update("insert into ballast values (?)", i);
			}
			// The index alone is locked. A completion with a longer retention locks the
			// record and waits for the index. Then this transaction waits for the record.
			this.jdbc.queryForList("select purge_after from " + Tables.RECORDS + " force index (" + Tables.RECORDS
					+ "_purge_after) where purge_after > 0 lock in share mode");
			completion.completeAsync(
					() -> this.node.store().complete(Requests.result(claim, Requests.LONG.multipliedBy(3))),
					SchedulerThread::start);
			await().atMost(Duration.ofSeconds(60)).until(this::somebodyWaits);
			assertThat(this.jdbc.update("update " + Tables.RECORDS + " set attempts = attempts + 1")).isEqualTo(1);
		});
		assertThat(completion.get(60, TimeUnit.SECONDS)).isTrue();
		assertThat(deadlocks() - before).as("deadlocks").isEqualTo(1);
		assertThat(this.node.store().claim(Requests.claim(claim.key()))).isInstanceOf(ClaimResult.Completed.class);
	}

	private boolean somebodyWaits() {
		return this.database.jdbc()
			.queryForObject(this.database.type().product().waitingTransactions(), Integer.class) == 1;
	}

	private long deadlocks() {
		Long count = this.database.jdbc()
			.queryForObject("select count from information_schema.innodb_metrics where name = 'lock_deadlocks'",
					Long.class);
		return (count != null) ? count : 0;
	}

}
