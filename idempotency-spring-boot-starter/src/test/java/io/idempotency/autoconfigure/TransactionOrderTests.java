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
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

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
	void theGuardStandsOutsideOfATransactionOfTheHighestOrder() {
		this.runner.withUserConfiguration(EarlyTransactions.class)
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
	@EnableTransactionManagement(order = Integer.MIN_VALUE)
	static class EarlyTransactions {

	}

	static class Ledger {

		@Idempotent("#id")
		@Transactional
		boolean book(String id) {
			return TransactionSynchronizationManager.isActualTransactionActive();
		}

	}

}
