package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.Internal;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.reactor.ReactiveTransactionStarter;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Finds the transactions that records join if the work of the method runs in the
 * subscriptions to its result. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class SubscribedTransactions {

	private static final boolean TRANSACTIONS = ClassUtils.isPresent(
			"org.springframework.transaction.ReactiveTransactionManager",
			SubscribedTransactions.class.getClassLoader());

	private final ConfigurableListableBeanFactory beanFactory;

	private final Duration timeout;

	/** The managers and stores whose transactions were tried. */
	private final Set<List<Object>> tried = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the finder.
	 * @param beanFactory the bean factory with the transaction managers
	 * @param timeout the timeout for the begin and the end of a transaction
	 */
	SubscribedTransactions(ConfigurableListableBeanFactory beanFactory, Duration timeout) {
		this.beanFactory = beanFactory;
		this.timeout = timeout;
	}

	/**
	 * Finds the transactions that the record of a method joins.
	 * @param targetClass the class of the bean
	 * @param store the store of its records, as the calls use it
	 * @throws io.idempotency.IdempotencyConfigurationException if the store cannot join
	 * transactions; the message contains the method and the action
	 */
	public ReactiveTransactionStarter of(Method method, Class<?> targetClass, ReactiveIdempotencyStore store) {
		if (!TRANSACTIONS || store.joining().isEmpty()) {
			throw GuardedMethod.problem(method, targetClass,
					"transaction = JOIN, but its work runs when its result is subscribed to, and its store does "
							+ "not support reactive transactions",
					"Use the R2DBC store with a ConnectionFactory and Spring's R2dbcTransactionManager, or set "
							+ "transaction = TransactionMode.SEPARATE");
		}
		return SpringReactiveTransactionStarter.of(this.beanFactory, method, targetClass, store.joining().orElseThrow(),
				(manager) -> this.tried.add(List.of(manager, store)), this.timeout);
	}

}
