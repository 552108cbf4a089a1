package io.idempotency.autoconfigure;

import java.util.function.Supplier;

import io.idempotency.aop.SpringSurroundingTransaction;
import io.idempotency.engine.SurroundingTransaction;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/** The transactions of Spring, where the application has them. */
final class SurroundingTransactions {

	private static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			SurroundingTransactions.class.getClassLoader());

	private SurroundingTransactions() {
	}

	static Supplier<@Nullable SurroundingTransaction> supplier() {
		return PRESENT ? Present::current : () -> null;
	}

	/** A class of its own, which is loaded only where its types are there. */
	private static final class Present {

		static @Nullable SurroundingTransaction current() {
			return SpringSurroundingTransaction.current();
		}

	}

}
