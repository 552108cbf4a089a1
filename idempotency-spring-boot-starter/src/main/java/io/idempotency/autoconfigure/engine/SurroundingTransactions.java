package io.idempotency.autoconfigure.engine;

import java.util.function.Supplier;

import io.idempotency.aop.transaction.SpringSurroundingTransaction;
import io.idempotency.engine.SurroundingTransaction;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/** Supplies the current Spring transaction, if the application has spring-tx. */
final class SurroundingTransactions {

	private static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			SurroundingTransactions.class.getClassLoader());

	private SurroundingTransactions() {
	}

	static Supplier<@Nullable SurroundingTransaction> supplier() {
		return PRESENT ? Present::current : () -> null;
	}

	/** A class of its own, because spring-tx may be missing. */
	private static final class Present {

		static @Nullable SurroundingTransaction current() {
			return SpringSurroundingTransaction.current();
		}

	}

}
