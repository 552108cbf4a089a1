package io.idempotency.autoconfigure;

import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.Idempotent;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The store is asked before the transaction begins and after it has ended. */
class TransactionOrderTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
				IdempotencyAutoConfiguration.class))
		.withBean(TransactionSeeingStore.class)
		.withBean(Ledger.class);

	@Test
	void theGuardStandsOutsideOfTheTransaction() {
		this.runner.run((context) -> assertStoreIsOutside(context.getBean(TransactionSeeingStore.class),
				context.getBean(Ledger.class)));
	}

	@Test
	void theGuardStandsInsideOfATransactionThatIsOrderedBeforeItAndItsClaimEndsWithThat() {
		this.runner.withUserConfiguration(EarlyTransactions.class).run((context) -> {
			TransactionSeeingStore store = context.getBean(TransactionSeeingStore.class);
			Ledger ledger = context.getBean(Ledger.class);
			assertThatIllegalStateException().isThrownBy(() -> ledger.bookAndFailToCommit("7"));
			assertThat(store.sawTransaction).isTrue();
			assertThat(store.completions).isEmpty();
			assertThat(ledger.book("7")).isTrue();
			assertThat(store.completions).hasSize(1);
		});
	}

	@Test
	void aNewTransactionThatIsOrderedBeforeTheGuardEndsTheClaimToo() {
		this.runner.withUserConfiguration(EarlyTransactions.class).run((context) -> {
			TransactionSeeingStore store = context.getBean(TransactionSeeingStore.class);
			Ledger ledger = context.getBean(Ledger.class);
			assertThatIllegalStateException().isThrownBy(() -> ledger.bookApartAndFailToCommit("7"));
			assertThat(store.sawTransaction).isTrue();
			assertThat(store.completions).isEmpty();
		});
	}

	@Test
	void theGuardStandsOutsideOfATransactionThatIsOrderedBehindIt() {
		this.runner.withUserConfiguration(EarlyTransactions.class)
			.withPropertyValues("idempotency.advisor-order=-1")
			.run((context) -> assertStoreIsOutside(context.getBean(TransactionSeeingStore.class),
					context.getBean(Ledger.class)));
	}

	private static void assertStoreIsOutside(TransactionSeeingStore store, Ledger ledger) {
		assertThat(ledger.book("7")).isTrue();
		assertThat(store.completions).hasSize(1);
		assertThat(store.sawTransaction).isFalse();
	}

	static class TransactionSeeingStore extends RecordingStore {

		final AtomicBoolean sawTransaction = new AtomicBoolean();

		@Override
		public ClaimResult claim(ClaimRequest request) {
			look();
			return super.claim(request);
		}

		@Override
		public boolean complete(Completion completion) {
			look();
			return super.complete(completion);
		}

		private void look() {
			if (TransactionSynchronizationManager.isActualTransactionActive()) {
				this.sawTransaction.set(true);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 0)
	static class EarlyTransactions {

	}

	static class Ledger {

		@Idempotent("#id")
		@Transactional
		boolean book(String id) {
			return TransactionSynchronizationManager.isActualTransactionActive();
		}

		@Idempotent("#id")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		void bookApartAndFailToCommit(String id) {
			bookAndFailToCommit(id);
		}

		@Idempotent("#id")
		@Transactional
		void bookAndFailToCommit(String id) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					throw new IllegalStateException("commit");
				}

			});
		}

	}

}
