package io.idempotency.interceptor;

import java.io.IOException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Commits inside a call that failed, and failures after a commit. */
class CommitTrackerTests {

	private final CommitTracker tracker = new CommitTracker();

	private final Manager manager = new Manager();

	private final long startNanos = System.nanoTime();

	private static JdbcDataSource dataSource() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID());
		return dataSource;
	}

	@AfterEach
	void leavesNothingOnTheThread() {
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
	}

	static Stream<Throwable> answers() {
		return Stream.of(new SQLException("taken", "23505"), new SQLException("deadlock", "40P01"),
				new IllegalStateException(new SQLException("serialization", "40001")),
				new UnexpectedRollbackException("rollback-only"), new DataIntegrityViolationException("not null"),
				new OptimisticLockingFailureException("stale"));
	}

	@ParameterizedTest
	@MethodSource("answers")
	void workIsRolledBackWhenTheDatabaseAnswered(Throwable failure) {
		this.manager.failure = new DataAccessResourceFailureException("commit");
		fails();
		assertThat(outcome(failure)).isEqualTo(TransactionOutcome.ROLLED_BACK);
	}

	static Stream<Throwable> lostReplies() {
		return Stream.of(new SQLException("gone", "08006"), new SQLException("unknown", "40003"),
				new SQLException("MariaDB reconnected", "25S03"), new SQLException("shutdown", "57P01"),
				new SQLException("no state"), new SQLTimeoutException("late", "57014"),
				new SQLTransientConnectionException("gone", "23505"), new SQLNonTransientConnectionException("gone"),
				new SQLRecoverableException("gone", "23505"),
				new SQLException("gone", "HY000", new IOException("reset")), new IllegalStateException("other"),
				new DataIntegrityViolationException("wrapped", new SQLException("gone", "08S01")));
	}

	@ParameterizedTest
	@MethodSource("lostReplies")
	void outcomeIsUnknownWhenTheReplyIsLost(Throwable failure) {
		this.manager.failure = new DataAccessResourceFailureException("commit");
		fails();
		assertThat(outcome(failure)).isEqualTo(TransactionOutcome.UNKNOWN);
	}

	@Test
	void outcomeIsUnknownWhenTheFailureIsNotVisible() {
		this.manager.failure = new DataIntegrityViolationException("taken");
		fails();
		assertThat(outcome(null)).isEqualTo(TransactionOutcome.UNKNOWN);
	}

	@Test
	void commitThatSucceedsLeavesNoOutcome() {
		this.manager.template().executeWithoutResult((status) -> {
		});
		assertThat(outcome(null)).isEqualTo(TransactionOutcome.ROLLED_BACK);
	}

	@Test
	void workIsCommittedWhenCallbackAfterTheCommitFails() {
		failsAfterCommit();
		assertThat(outcome(new IllegalStateException("mail"))).isEqualTo(TransactionOutcome.COMMITTED);
		this.manager.template().executeWithoutResult((status) -> {
		});
		assertThat(outcome(null)).isEqualTo(TransactionOutcome.COMMITTED);
	}

	@Test
	void rollbackOfALaterTransactionChangesNothing() {
		failsAfterCommit();
		this.manager.template().executeWithoutResult((status) -> status.setRollbackOnly());
		assertThat(outcome(null)).isEqualTo(TransactionOutcome.COMMITTED);
	}

	@Test
	void failureOfALaterTransactionDoesNotExplainALostCommit() {
		this.manager.failure = new DataAccessResourceFailureException("commit");
		fails();
		this.manager.failure = null;
		this.manager.template().executeWithoutResult((status) -> status.setRollbackOnly());
		assertThat(outcome(new OptimisticLockingFailureException("stale"))).isEqualTo(TransactionOutcome.UNKNOWN);
	}

	@Test
	void laterCommitThatTheDatabaseRejectsChangesNothing() {
		failsAfterCommit();
		this.manager.failure = new DataIntegrityViolationException("taken");
		fails();
		assertThat(outcome(this.manager.failure)).isEqualTo(TransactionOutcome.COMMITTED);
	}

	@Test
	void rollbackAroundTheCommitIsTheFailureOfTheWork() {
		this.manager.template().executeWithoutResult((status) -> {
			failsAfterCommit();
			status.setRollbackOnly();
		});
		assertThat(outcome(null)).isEqualTo(TransactionOutcome.ROLLED_BACK);
	}

	@Test
	void transactionThatIsMarkedForRollbackDoesNotCommit() {
		TransactionTemplate participant = new TransactionTemplate(this.manager);
		assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(() -> this.manager.template()
			.executeWithoutResult((outer) -> participant.executeWithoutResult((inner) -> inner.setRollbackOnly())));
		assertThat(outcome(null)).isEqualTo(TransactionOutcome.ROLLED_BACK);
	}

	@Test
	void commitsBeforeTheWorkAreNotItsOwn() {
		failsAfterCommit();
		assertThat(this.tracker.outcomeSince(System.nanoTime() + 1, null)).isEqualTo(TransactionOutcome.ROLLED_BACK);
	}

	@Test
	void seesOnlyTheExceptionOfAReactiveTransaction() {
		assertThat(this.tracker.mayHaveCommitted(new DataAccessResourceFailureException("gone"))).isTrue();
		assertThat(this.tracker.mayHaveCommitted(new QueryTimeoutException("late"))).isTrue();
		assertThat(this.tracker.mayHaveCommitted(new IllegalStateException(new TimeoutException()))).isTrue();
		assertThat(this.tracker.mayHaveCommitted(new DataIntegrityViolationException("taken"))).isFalse();
		assertThat(this.tracker.mayHaveCommitted(new IllegalStateException(new IOException("other server")))).isFalse();
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void logsManagersWithoutTheListener(CapturedOutput output) {
		DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();
		beanFactory.registerSingleton("tracked", this.manager);
		CommitTracker.logUntracked(beanFactory);
		assertThat(output).doesNotContain("addListener");
		beanFactory.registerSingleton("declared", new DataSourceTransactionManager(dataSource()));
		CommitTracker.logUntracked(beanFactory);
		assertThat(output).contains("The transaction managers [declared] do not have").contains("addListener");
	}

	private TransactionOutcome outcome(@Nullable Throwable failure) {
		return this.tracker.outcomeSince(this.startNanos, failure);
	}

	private void fails() {
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> this.manager.template().executeWithoutResult((status) -> {
			}))
			.isSameAs(this.manager.failure);
	}

	private void failsAfterCommit() {
		TransactionSynchronization mail = new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				throw new IllegalStateException("mail");
			}

		};
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.manager.template()
				.executeWithoutResult((status) -> TransactionSynchronizationManager.registerSynchronization(mail)))
			.withMessage("mail");
	}

	/** Fails on commit as a test wants. */
	private final class Manager extends JdbcTransactionManager {

		private static final long serialVersionUID = 1L;

		private transient @Nullable RuntimeException failure;

		Manager() {
			super(dataSource());
			addListener(CommitTrackerTests.this.tracker);
		}

		TransactionTemplate template() {
			TransactionTemplate template = new TransactionTemplate(this);
			template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			return template;
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			if (this.failure != null) {
				throw this.failure;
			}
			super.doCommit(status);
		}

	}

}
