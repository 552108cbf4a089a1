package io.idempotency.it.jdbc;

import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * The transaction of the application fails, and no store: nothing is told as an outage,
 * and the application sees what it would have seen without a guard.
 */
@Requires(Backend.POSTGRESQL)
@ExtendWith(OutputCaptureExtension.class)
class CallersTroubleTests {

	private static ConfigurableApplicationContext application;

	private final String ref = UUID.randomUUID().toString();

	private final Joined joined = application.getBean(Joined.class);

	private final JdbcTemplate jdbc = application.getBean(JdbcTemplate.class);

	private final IdempotencyStore store = application.getBean(JdbcIdempotencyStore.class);

	@BeforeAll
	static void start() {
		HikariDataSource pool = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase().pool(5);
		application = PoolApplication.start(pool, Joined.class);
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	private static TransactionTemplate transaction(int isolation) {
		TransactionTemplate template = new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
		template.setIsolationLevel(isolation);
		return template;
	}

	private static TransactionTemplate transaction() {
		return transaction(TransactionDefinition.ISOLATION_DEFAULT);
	}

	private void expectNoOutage(CapturedOutput output) {
		assertThat(output).doesNotContain("could not ", "failed to execute");
		// Nothing is left of it.
		assertThat(this.joined.pay(this.ref)).isEqualTo("paid " + this.ref);
	}

	@Test
	void failureThatTheWorkHasSwallowedIsARollback(CapturedOutput output) {
		assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(() -> this.joined.swallow(this.ref))
			.withMessageContaining("an earlier statement in it failed");
		expectNoOutage(output);
	}

	@Test
	void transactionThatWasAbortedBeforeTheCallIsARollback(CapturedOutput output) {
		assertThatExceptionOfType(UnexpectedRollbackException.class)
			.isThrownBy(() -> transaction().executeWithoutResult((status) -> {
				fail(this.jdbc);
				this.joined.pay(this.ref);
			}))
			.withMessageContaining("an earlier statement in it failed");
		expectNoOutage(output);
	}

	@Test
	void transactionThatWasIdleForTooLongIsARollback(CapturedOutput output) {
		// The rollback fails as well: the connection is gone.
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> transaction().executeWithoutResult((status) -> {
				String pid = this.jdbc.queryForObject("select pg_backend_pid()", String.class);
				this.jdbc.execute("set local idle_in_transaction_session_timeout = 1");
				await().until(() -> SchedulerThread
					.supply(() -> this.jdbc.queryForObject("select count(*) from pg_stat_activity where pid = " + pid,
							Integer.class))
					.join() == 0);
				this.joined.pay(this.ref);
			}))
			.satisfies((ex) -> assertThat(ex.getApplicationException()).isInstanceOf(UnexpectedRollbackException.class)
				.hasMessageContaining("the database ended it"));
		expectNoOutage(output);
	}

	@Test
	void transactionThatMustNotWriteIsNamed(CapturedOutput output) {
		TransactionTemplate reading = transaction();
		reading.setReadOnly(true);
		assertThatIllegalStateException()
			.isThrownBy(() -> reading.executeWithoutResult((status) -> this.joined.pay(this.ref)))
			.withMessageContaining("is read-only")
			.withMessageContaining("TransactionMode.SEPARATE");
		expectNoOutage(output);
	}

	@Test
	void conflictOfTheWorkIsAConcurrencyFailure(CapturedOutput output) {
		assertThatExceptionOfType(ConcurrencyFailureException.class).isThrownBy(() -> this.joined.skew(this.ref));
		expectNoOutage(output);
	}

	/** What the transaction of the caller cannot do, the store can by itself. */
	@Test
	void lookNeedsNothingOfATransactionThatWasAborted() {
		finish();
		transaction().executeWithoutResult((status) -> {
			fail(this.jdbc);
			assertThat(this.store.find(Requests.key("look", this.ref), Fingerprint.NONE)).isPresent();
			status.setRollbackOnly();
		});
	}

	@Test
	void lookThatCannotSeeTheTableLeavesTheTransactionAsItWas() {
		finish();
		transaction().executeWithoutResult((status) -> {
			this.jdbc.execute("set local search_path to nowhere");
			assertThat(this.store.find(Requests.key("look", this.ref), Fingerprint.NONE)).isPresent();
			this.jdbc.update("insert into public.payment (ref) values (?)", this.ref);
		});
		assertThat(this.jdbc.queryForObject("select count(*) from payment where ref = ?", Long.class, this.ref))
			.isOne();
	}

	/** The node that wrote it has a newer version. */
	@Test
	void recordThatCannotBeReadLeavesTheTransactionAsItWas() {
		finish();
		IdempotencyKey key = Requests.key("look", this.ref);
		this.jdbc.update("update idempotency_record set state = 'Z' where key_hash = ?", key.hash());
		IdempotencyStore joining = this.store.joining().orElseThrow();
		transaction().executeWithoutResult((status) -> {
			String bound = this.jdbc.queryForObject("show lock_timeout", String.class);
			assertThatExceptionOfType(UnreadableRecordException.class)
				.isThrownBy(() -> this.store.find(key, Fingerprint.NONE));
			assertThatExceptionOfType(UnreadableRecordException.class)
				.isThrownBy(() -> joining.claim(Requests.claim(key)));
			assertThat(this.jdbc.queryForObject("show lock_timeout", String.class)).isEqualTo(bound);
			this.jdbc.update("insert into payment (ref) values (?)", this.ref);
		});
		assertThat(this.jdbc.queryForObject("select count(*) from payment where ref = ?", Long.class, this.ref))
			.isOne();
	}

	private void finish() {
		this.store
			.complete(Requests.result(Requests.acquire(this.store, Requests.claim(Requests.key("look", this.ref)))));
	}

	private static void fail(JdbcTemplate jdbc) {
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> jdbc.execute("select 1 / 0"));
	}

	/** What is guarded in its own transaction. */
	static class Joined {

		private final JdbcTemplate jdbc;

		private final PlatformTransactionManager transactions;

		Joined(JdbcTemplate jdbc, PlatformTransactionManager transactions) {
			this.jdbc = jdbc;
			this.transactions = transactions;
		}

		@Transactional
		@Idempotent(operation = "pay", key = "#ref", transaction = TransactionMode.JOIN)
		public String pay(String ref) {
			return "paid " + ref;
		}

		@Transactional
		@Idempotent(operation = "swallow", key = "#ref", transaction = TransactionMode.JOIN)
		public String swallow(String ref) {
			fail(this.jdbc);
			return "paid " + ref;
		}

		/** Reads what another transaction writes, which has read what this one writes. */
		@Transactional(isolation = Isolation.SERIALIZABLE)
		@Idempotent(operation = "skew", key = "#ref", transaction = TransactionMode.JOIN)
		public String skew(String ref) {
			count();
			this.jdbc.update("insert into payment (ref) values (?)", ref);
			SchedulerThread.run(() -> {
				TransactionTemplate other = new TransactionTemplate(this.transactions);
				other.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
				other.executeWithoutResult((status) -> {
					count();
					this.jdbc.update("insert into payment (ref) values (?)", "other");
				});
			}).join();
			return "paid " + ref;
		}

		private void count() {
			this.jdbc.queryForObject("select count(*) from payment", Long.class);
		}

	}

}
