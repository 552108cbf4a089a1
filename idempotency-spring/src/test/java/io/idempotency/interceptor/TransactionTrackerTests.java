package io.idempotency.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Which transaction the work of a manager is a part of, where those of several managers
 * are open, and whose end is told.
 */
class TransactionTrackerTests {

	private final JdbcDataSource shopData = dataSource();

	private final JdbcTransactionManager shop = new JdbcTransactionManager(this.shopData);

	private final JdbcTransactionManager billing = new JdbcTransactionManager(dataSource());

	private final TransactionTracker ofShop = TransactionTracker.of(this.shop);

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
		return this.ofShop.open(SpringSurroundingTransaction.current());
	}

	@Test
	void managersAreAskedOnce() {
		assertThat(TransactionTracker.of(this.shop)).isSameAs(this.ofShop);
		assertThat(this.shop.getTransactionExecutionListeners()).containsExactly(this.ofShop);
	}

	@Test
	void eachStoreIsTriedOnce() {
		IdempotencyStore store = new MemoryIdempotencyStore(1_000_000);
		assertThat(this.ofShop.isFirstTry(store)).isTrue();
		assertThat(this.ofShop.isFirstTry(store)).isFalse();
		assertThat(this.ofShop.isFirstTry(new MemoryIdempotencyStore(1_000_000))).isTrue();
	}

	@Test
	void workOutsideOfTransactionsIsAPartOfNone() {
		assertThat(open()).isNull();
	}

	@Test
	void workInItsOwnTransactionIsAPartOfThat() {
		in(this.shop, () -> assertThat(open()).isNotNull().isSameAs(SpringSurroundingTransaction.current()));
	}

	@Test
	void workInATransactionOfAnotherManagerIsAPartOfNone() {
		in(this.billing, () -> assertThat(open()).isNull());
	}

	@Test
	void workBehindATransactionOfAnotherManagerIsAPartOfItsOwn() {
		in(this.shop, () -> {
			SurroundingTransaction own = open();
			in(this.billing, () -> assertThat(open()).isNotNull().isSameAs(own));
			assertThat(open()).isSameAs(own);
		});
	}

	@Test
	void workInTheInnerOfTwoOwnTransactionsIsAPartOfThat() {
		in(this.shop, () -> {
			SurroundingTransaction outer = open();
			in(this.shop, TransactionDefinition.PROPAGATION_REQUIRES_NEW,
					() -> in(this.billing, () -> assertThat(open()).isNotNull().isNotSameAs(outer)));
			assertThat(open()).isSameAs(outer);
		});
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
	void workBehindASuspendedTransactionOfAnotherManagerIsAPartOfItsOwn() {
		in(this.shop, () -> {
			SurroundingTransaction own = open();
			in(this.billing, () -> in(this.billing, TransactionDefinition.PROPAGATION_NOT_SUPPORTED, () -> {
				assertThat(SpringSurroundingTransaction.current()).isNull();
				assertThat(open()).isNotNull().isSameAs(own);
			}));
		});
	}

	@Test
	void workAfterTheEndOfATransactionOfAnotherManagerIsAPartOfItsOwn() {
		AtomicBoolean asked = new AtomicBoolean();
		in(this.shop, () -> {
			SurroundingTransaction own = open();
			in(this.billing,
					() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCompletion(int status) {
							assertThat(open()).isNotNull().isSameAs(own);
							asked.set(true);
						}

					}));
		});
		assertThat(asked).isTrue();
	}

	@Test
	void workInAReadOnlyTransactionIsAPartOfThatWhereTheManagerChecks() {
		this.shop.setValidateExistingTransaction(true);
		TransactionTemplate reading = new TransactionTemplate(this.shop);
		reading.setReadOnly(true);
		reading.executeWithoutResult((status) -> in(this.billing, () -> assertThat(open()).isNotNull()));
	}

	@Test
	void transactionOfAnotherManagerOfTheSameDatabaseIsItsOwn() {
		in(new JdbcTransactionManager(this.shopData),
				() -> assertThat(open()).isNotNull().isSameAs(SpringSurroundingTransaction.current()));
	}

	@Test
	void workOfAManagerThatTellsNobodyItsEndsIsAPartOfNone() {
		this.shop.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		in(this.shop, () -> in(this.billing, () -> assertThat(open()).isNull()));
		assertThatIllegalStateException().isThrownBy(() -> join(() -> {
		})).withMessageContaining("tells nobody");
	}

	@Test
	void managerThatTellsNobodyItsBeginningsIsBelievedAboutTheInnermost() {
		TransactionTracker wrapped = TransactionTracker.of(new Wrapped(this.shop));
		in(this.shop, () -> assertThat(wrapped.open(SpringSurroundingTransaction.current())).isNotNull()
			.isSameAs(SpringSurroundingTransaction.current()));
	}

	private void join(Runnable work) throws Throwable {
		TransactionStarter.Begun begun = new SpringTransactionStarter(this.ofShop, new DefaultTransactionDefinition())
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
	void joinedWorkEndsWithItsOwnTransactionAndNotWithTheOneInBetween() {
		TransactionTemplate caller = new TransactionTemplate(this.shop);
		caller.executeWithoutResult((status) -> {
			in(this.billing, () -> joinOrFail(() -> {
			}));
			assertThat(this.outcomes).isEmpty();
			status.setRollbackOnly();
		});
		assertThat(this.outcomes).containsExactly(TransactionOutcome.ROLLED_BACK);
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

	/** Tells nobody what it begins. */
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
