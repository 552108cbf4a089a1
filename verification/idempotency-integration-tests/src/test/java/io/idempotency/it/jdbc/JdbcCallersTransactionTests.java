package io.idempotency.it.jdbc;

import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Runs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Guarded calls inside a transaction of the caller, whose pool the store uses.
 */
@EachDatabase(having = Product.Trait.SERVER)
class JdbcCallersTransactionTests {

	private final Runs runs = new Runs();

	private final JdbcTemplate jdbc;

	private final JdbcNode node;

	private final TransactionTemplate transaction;

	JdbcCallersTransactionTests(TestDatabase database) {
		database.jdbc().execute("create table if not exists payment (id varchar(100) primary key)");
		HikariDataSource pool = database.newPool(4);
		this.jdbc = new JdbcTemplate(pool);
		this.node = new JdbcNode(pool);
		this.transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
	}

	@AfterEach
	void stop() {
		this.node.close();
	}

	@Test
	void duplicatesLeaveTheTransactionAsItWas() {
		String done = freshKey();
		this.node.call(done).fingerprint("one").execute(String.class, () -> this.runs.run(done));
		String running = freshKey();
		this.node.execute(running, () -> {
			this.transaction.executeWithoutResult((status) -> {
				pay(done);
				assertThat(this.node.call(done).fingerprint("one").execute(String.class, () -> "again"))
					.isEqualTo(done + " run 1");
				assertThatExceptionOfType(IdempotencyKeyReusedException.class)
					.isThrownBy(() -> this.node.call(done).fingerprint("two").execute(String.class, () -> "again"));
				assertThatExceptionOfType(IdempotencyInProgressException.class)
					.isThrownBy(() -> this.node.execute(running, () -> "again"));
				pay(running);
			});
			return this.runs.run(running);
		});
		assertThat(paid(done)).isTrue();
		assertThat(paid(running)).isTrue();
	}

	@Test
	void duplicatesLeaveATransactionThatReadEarlyAsItWas() {
		TransactionTemplate strict = new TransactionTemplate(this.transaction.getTransactionManager());
		strict.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		String key = freshKey();
		strict.executeWithoutResult((status) -> {
			// The view of the transaction begins here.
			assertThat(paid(key)).isFalse();
			inAnotherThread(() -> this.node.execute(key, () -> this.runs.run(key)));
			assertThat(this.node.execute(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
			pay(key);
		});
		assertThat(paid(key)).isTrue();
		assertThat(this.runs.of(key)).isEqualTo(1);
	}

	@Test
	void recordOutlivesTheRollbackOfTheCaller() {
		String key = freshKey();
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
			this.node.execute(key, () -> {
				pay(key);
				return this.runs.run(key);
			});
			throw new IllegalStateException();
		}));
		assertThat(paid(key)).as("rolled back").isFalse();
		assertThat(this.node.execute(key, () -> this.runs.run(key))).as("SEPARATE, as it says")
			.isEqualTo(key + " run 1");
	}

	@Test
	void duplicateSeesTheClaimOfATransactionThatIsNotCommitted() {
		String key = freshKey();
		this.transaction.executeWithoutResult((status) -> this.node.execute(key, () -> {
			pay(key);
			inAnotherThread(() -> assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.node.execute(key, () -> this.runs.run(key))));
			return this.runs.run(key);
		}));
		assertThat(this.runs.of(key)).isEqualTo(1);
	}

	private void pay(String id) {
		this.jdbc.update("insert into payment values (?)", id);
	}

	private boolean paid(String id) {
		return !this.jdbc.queryForList("select id from payment where id = ?", id).isEmpty();
	}

	private static void inAnotherThread(Runnable action) {
		SchedulerThread.run(action).join();
	}

	private static String freshKey() {
		return UUID.randomUUID().toString();
	}

}
