package io.idempotency.aop;

import java.util.Set;

import io.idempotency.engine.BusinessTransactions;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Finds the transactions that an operation joins. A class of its own, because
 * applications that join no transaction may lack spring-tx.
 */
final class TransactionManagers {

	/** With these propagations, the method runs in the transaction of its record. */
	private static final Set<Integer> SAME_TRANSACTION = Set.of(TransactionDefinition.PROPAGATION_REQUIRED,
			TransactionDefinition.PROPAGATION_SUPPORTS, TransactionDefinition.PROPAGATION_MANDATORY);

	private static final Set<Integer> APART = Set.of(TransactionDefinition.PROPAGATION_REQUIRES_NEW,
			TransactionDefinition.PROPAGATION_NOT_SUPPORTED, TransactionDefinition.PROPAGATION_NEVER);

	private TransactionManagers() {
	}

	/**
	 * Finds the transactions of the manager that the method's own {@code @Transactional}
	 * names, else of the only or primary manager. They have the isolation and the
	 * time-out of that {@code @Transactional}.
	 * @throws io.idempotency.IdempotencyConfigurationException if there is no such
	 * manager, or the method asks for a transaction other than that of its record
	 */
	static BusinessTransactions find(BeanFactory beanFactory, IdempotentAnnotation annotation) {
		TransactionAttribute wanted = wanted(annotation);
		if (wanted != null && !SAME_TRANSACTION.contains(wanted.getPropagationBehavior())) {
			throw SetupProblem.of(annotation,
					"transaction = JOIN, but its own @Transactional asks for a transaction apart from the caller's",
					"Leave the propagation of @Transactional at REQUIRED, or set transaction = TransactionMode.SEPARATE");
		}
		try {
			return new SpringTransactions(manager(beanFactory, wanted), definition(wanted));
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw SetupProblem.of(annotation,
					"transaction = JOIN, but there is not exactly one transaction manager: " + ex.getMessage(),
					"Declare the transaction manager of the store's DataSource, mark it as @Primary, or name it by "
							+ "@Transactional",
					ex);
		}
	}

	private static @Nullable TransactionAttribute wanted(IdempotentAnnotation annotation) {
		return new AnnotationTransactionAttributeSource().getTransactionAttribute(annotation.method(),
				annotation.targetClass());
	}

	/**
	 * Returns whether the method's own {@code @Transactional} takes its work out of the
	 * caller's transaction. The work of a nested transaction stays a part of it.
	 */
	static boolean isApart(IdempotentAnnotation annotation) {
		TransactionAttribute wanted = wanted(annotation);
		return wanted != null && APART.contains(wanted.getPropagationBehavior());
	}

	/**
	 * Finds the transactions of the only or primary manager.
	 * @throws IllegalArgumentException if there is no such manager
	 */
	static BusinessTransactions find(BeanFactory beanFactory) {
		try {
			return new SpringTransactions(manager(beanFactory, null), definition(null));
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw new IllegalArgumentException("There is not exactly one transaction manager to join: declare that of "
					+ "the store's DataSource, or mark it as @Primary", ex);
		}
	}

	private static PlatformTransactionManager manager(BeanFactory beanFactory, @Nullable TransactionAttribute wanted) {
		String name = (wanted != null) ? wanted.getQualifier() : null;
		if (name == null || name.isEmpty()) {
			return beanFactory.getBean(PlatformTransactionManager.class);
		}
		return BeanFactoryAnnotationUtils.qualifiedBeanOfType(beanFactory, PlatformTransactionManager.class, name);
	}

	/**
	 * Returns the definition of the transaction. A method that would run without a
	 * transaction gets one for its record.
	 */
	private static TransactionDefinition definition(@Nullable TransactionAttribute wanted) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
		if (wanted != null) {
			definition.setIsolationLevel(wanted.getIsolationLevel());
			definition.setTimeout(wanted.getTimeout());
			definition.setName(wanted.getName());
			if (wanted.getPropagationBehavior() == TransactionDefinition.PROPAGATION_MANDATORY) {
				definition.setPropagationBehavior(TransactionDefinition.PROPAGATION_MANDATORY);
			}
		}
		return definition;
	}

}
