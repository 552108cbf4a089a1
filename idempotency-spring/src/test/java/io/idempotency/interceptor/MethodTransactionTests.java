package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Which transaction the work of a method is part of, and what its end is. */
class MethodTransactionTests {

	private final JdbcDataSource shopData = dataSource();

	private final JdbcTransactionManager shop = new JdbcTransactionManager(this.shopData);

	private final JdbcTransactionManager billing = new JdbcTransactionManager(dataSource());

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final List<TransactionOutcome> outcomes = new ArrayList<>();

	private static JdbcDataSource dataSource() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID());
		return dataSource;
	}

	@AfterEach
	void nothingIsLeftOnTheThread() {
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
	}

	private static void in(PlatformTransactionManager manager, int propagation, Runnable work) {
		TransactionTemplate template = new TransactionTemplate(manager);
		template.setPropagationBehavior(propagation);
		template.executeWithoutResult((status) -> work.run());
	}

	private static void in(PlatformTransactionManager manager, Runnable work) {
		in(manager, TransactionDefinition.PROPAGATION_REQUIRED, work);
	}

	private @Nullable SurroundingTransaction open() {
		return open(this.shop);
	}

	private @Nullable SurroundingTransaction open(PlatformTransactionManager manager) {
		if (!this.beanFactory.containsBean("shop")) {
			this.beanFactory.registerSingleton("shop", manager);
		}
		Method method = ReflectionUtils.findMethod(Shop.class, "place");
		return MethodTransaction.surrounding(this.beanFactory, method, Shop.class).apply(CallerTransaction.current());
	}

	@Test
	void workOutsideOfTransactionsIsAPartOfNone() {
		assertThat(open()).isNull();
	}

	@Test
	void workInItsOwnTransactionIsAPartOfThat() {
		in(this.shop, () -> assertThat(open()).isNotNull());
	}

	@Test
	void workInATransactionOfAnotherManagerIsAPartOfNone() {
		in(this.billing, () -> assertThat(open()).isNull());
	}

	@Test
	void workWhoseOwnTransactionIsSuspendedIsAPartOfNone() {
		in(this.shop, () -> in(this.shop, TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
				() -> assertThat(open()).isNull()));
	}

	@Test
	void workWhoseOwnTransactionIsSuspendedIsAPartOfNoneAlsoWithoutSynchronizationForThat() {
		this.shop
			.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_ON_ACTUAL_TRANSACTION);
		in(this.shop, () -> in(this.shop, TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
				() -> assertThat(open()).isNull()));
	}

	@Test
	void workInAReadOnlyTransactionIsAPartOfThatWhereTheManagerChecks() {
		this.shop.setValidateExistingTransaction(true);
		TransactionTemplate reading = new TransactionTemplate(this.shop);
		reading.setReadOnly(true);
		reading.executeWithoutResult((status) -> assertThat(open()).isNotNull());
	}

	@Test
	void transactionOfAnotherManagerOfTheSameDatabaseIsItsOwn() {
		in(new JdbcTransactionManager(this.shopData), () -> assertThat(open()).isNotNull());
	}

	/** Only the innermost transaction notifies calls of its end. */
	@Test
	void workBehindATransactionOfAnotherManagerIsAPartOfTheInnermost() {
		in(this.shop, () -> in(this.billing, () -> assertThat(open()).isNotNull()));
	}

	@Test
	void managerWithoutResourceIsBelievedAboutTheInnermost() {
		in(this.shop, () -> assertThat(open(new Wrapped(this.shop))).isNotNull());
	}

	@Test
	void workCannotJoinAManagerThatDoesNotNotifySynchronizations() {
		this.shop.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		assertThatIllegalStateException().isThrownBy(() -> join(() -> {
		})).withMessageContaining("does not notify");
	}

	private void join(Runnable work) throws Throwable {
		TransactionStarter.StartedTransaction begun = new SpringTransactionStarter(this.shop,
				new DefaultTransactionDefinition())
			.begin(this.outcomes::add);
		try {
			work.run();
		}
		catch (Throwable ex) {
			begun.rollback(ex);
			throw ex;
		}
		begun.commit();
	}

	private void joinOrFail(Runnable work) {
		try {
			join(work);
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void joinedWorkThatBeginsItsTransactionEndsWithThatAndNotWithTheOneAround() {
		new TransactionTemplate(this.billing).executeWithoutResult((status) -> {
			joinOrFail(() -> {
			});
			assertThat(this.outcomes).containsExactly(TransactionOutcome.COMMITTED);
			status.setRollbackOnly();
		});
		assertThat(this.outcomes).containsExactly(TransactionOutcome.COMMITTED);
	}

	@Test
	void joinedWorkThatASavepointUndoesIsRolledBackThoughTheTransactionCommits() {
		in(this.shop, () -> {
			TransactionTemplate nested = new TransactionTemplate(this.shop);
			nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
			nested.executeWithoutResult((status) -> {
				joinOrFail(() -> {
				});
				status.setRollbackOnly();
			});
			assertThat(this.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
		});
		assertThat(this.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
	}

	@Test
	void joinedWorkThatFailsRollsBackThoughItsManagerLeavesThatToTheCaller() {
		this.shop.setGlobalRollbackOnParticipationFailure(false);
		TransactionTemplate caller = new TransactionTemplate(this.shop);
		assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(() -> caller
			.executeWithoutResult((status) -> assertThatIllegalStateException().isThrownBy(() -> join(() -> {
				throw new IllegalStateException("no");
			}))));
		assertThat(this.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
	}

	/** The exception of the commit is visible to the call that begins the transaction. */
	@Test
	void joinedWorkIsRolledBackWhenTheDatabaseAnswersItsCommit() {
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> joinAndFail(new SQLException("taken", "23505")));
		assertThat(this.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
	}

	@Test
	void outcomeOfJoinedWorkIsUnknownWhenTheReplyToItsCommitIsLost() {
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> joinAndFail(new SQLException("lost", "08006")));
		assertThat(this.outcomes).containsExactly(TransactionOutcome.UNKNOWN);
	}

	@Test
	void outcomeOfJoinedWorkIsUnknownWhenTheCommitOfItsCallerFails() {
		JdbcTransactionManager failing = failing(new SQLException("taken", "23505"));
		SpringTransactionStarter starter = new SpringTransactionStarter(failing, new DefaultTransactionDefinition());
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> in(failing, () -> starter.begin(this.outcomes::add).commit()));
		assertThat(this.outcomes).containsExactly(TransactionOutcome.UNKNOWN);
	}

	private void joinAndFail(SQLException failure) {
		new SpringTransactionStarter(failing(failure), new DefaultTransactionDefinition()).begin(this.outcomes::add)
			.commit();
	}

	private JdbcTransactionManager failing(SQLException failure) {
		return new JdbcTransactionManager(this.shopData) {

			private static final long serialVersionUID = 1L;

			@Override
			protected void doCommit(DefaultTransactionStatus status) {
				throw translateException("commit", failure);
			}

		};
	}

	static class Shop {

		@Transactional("shop")
		void place() {
		}

	}

	/** Hides its type. */
	private record Wrapped(PlatformTransactionManager manager) implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			return this.manager.getTransaction(definition);
		}

		@Override
		public void commit(TransactionStatus status) {
			this.manager.commit(status);
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.manager.rollback(status);
		}

	}

}
