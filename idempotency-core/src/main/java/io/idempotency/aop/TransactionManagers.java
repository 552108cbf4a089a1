package io.idempotency.aop;

import io.idempotency.engine.BusinessTransactions;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Finds the transactions that an operation joins. A class of its own, because Spring's
 * transactions may be missing where nothing joins them.
 */
final class TransactionManagers {

	private TransactionManagers() {
	}

	/**
	 * The transactions of the one transaction manager, or of the primary one.
	 * @throws io.idempotency.IdempotencyConfigurationException if there is none, or more
	 * than one
	 */
	static BusinessTransactions find(BeanFactory beanFactory, IdempotentAnnotation annotation) {
		try {
			return new SpringTransactions(beanFactory.getBean(PlatformTransactionManager.class));
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw SetupProblem.of(annotation,
					"transaction = JOIN, but there is not exactly one transaction manager: " + ex.getMessage(),
					"Declare the transaction manager of the store's DataSource, or mark it as @Primary", ex);
		}
	}

}
