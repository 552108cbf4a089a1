package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimId;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.NoTransactionToJoinException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.autoproxy.BeanFactoryAdvisorRetrievalHelper;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * The transaction that a method declares, and the manager that begins it. Both are
 * determined by the application's own advice, which defines the matching methods, their
 * configuration, and their manager. A separate class, because spring-tx is optional.
 */
final class MethodTransaction {

	private static final Logger logger = LoggerFactory.getLogger(MethodTransaction.class);

	/** With these propagations, the method runs in the transaction of its record. */
	private static final Set<Integer> SAME_TRANSACTION = Set.of(TransactionDefinition.PROPAGATION_REQUIRED,
			TransactionDefinition.PROPAGATION_SUPPORTS, TransactionDefinition.PROPAGATION_MANDATORY);

	private static final Set<Integer> APART = Set.of(TransactionDefinition.PROPAGATION_REQUIRES_NEW,
			TransactionDefinition.PROPAGATION_NOT_SUPPORTED, TransactionDefinition.PROPAGATION_NEVER);

	/** Joins the transaction of a manager, if there is one. */
	private static final TransactionDefinition LOOKUP = lookup();

	private static final IdempotencyKey NO_KEY = Namespace.NONE.key("start-up", Caller.GLOBAL, "none");

	/** The default manager name in Spring's XML configuration. */
	private static final String DEFAULT_MANAGER = "transactionManager";

	private final BeanFactory beanFactory;

	/** The transaction that the method declares, {@code null} without a declaration. */
	private final @Nullable TransactionAttribute wanted;

	private final @Nullable Class<?> targetClass;

	/** The advisor that begins the transaction, {@code null} if it is not a bean. */
	private final @Nullable Advisor advisor;

	private MethodTransaction(BeanFactory beanFactory, @Nullable TransactionAttribute wanted,
			@Nullable Class<?> targetClass, @Nullable Advisor advisor) {
		this.beanFactory = beanFactory;
		this.wanted = wanted;
		this.targetClass = targetClass;
		this.advisor = advisor;
	}

	private static MethodTransaction of(ConfigurableListableBeanFactory beanFactory, Method method,
			Class<?> targetClass) {
		boolean managed = false;
		for (Advisor candidate : new BeanFactoryAdvisorRetrievalHelper(beanFactory).findAdvisorBeans()) {
			if (candidate instanceof PointcutAdvisor advisor
					&& advisor.getAdvice() instanceof TransactionAspectSupport advice) {
				managed = true;
				TransactionAttributeSource source = advice.getTransactionAttributeSource();
				TransactionAttribute wanted = (source != null && applies(advisor, method, targetClass))
						? source.getTransactionAttribute(method, targetClass) : null;
				if (wanted != null) {
					return new MethodTransaction(beanFactory, wanted, targetClass, advisor);
				}
			}
		}
		// Advice that is woven into the classes has no advisor.
		TransactionAttribute wanted = managed ? null
				: new AnnotationTransactionAttributeSource(false).getTransactionAttribute(method, targetClass);
		return new MethodTransaction(beanFactory, wanted, targetClass, null);
	}

	private static boolean applies(PointcutAdvisor advisor, Method method, Class<?> targetClass) {
		return advisor.getPointcut().getClassFilter().matches(targetClass)
				&& advisor.getPointcut().getMethodMatcher().matches(method, targetClass);
	}

	/**
	 * Finds the transactions that the record of a method joins: those of the method's own
	 * manager, else of the default one. They have the isolation and the timeout that the
	 * method declares.
	 * @param store the store, which can join transactions
	 * @param isFirstTry whether no method joined transactions of the manager before
	 * @throws io.idempotency.IdempotencyConfigurationException if the manager does not
	 * exist, if the store cannot join its transactions, or if the method declares a
	 * separate transaction
	 */
	public static TransactionStarter joined(ConfigurableListableBeanFactory beanFactory, Method method,
			Class<?> targetClass, IdempotencyStore store, Predicate<Object> isFirstTry) {
		Joined<PlatformTransactionManager> joined = joined(beanFactory, method, targetClass,
				PlatformTransactionManager.class, "DataSource");
		if (isFirstTry.test(joined.manager())) {
			tryToJoin(joined.manager(), method, targetClass, store);
		}
		return new SpringTransactionStarter(joined.manager(), joined.definition());
	}

	/**
	 * Finds the manager and the definition of the transactions that the record of a
	 * method joins.
	 * @param <M> the type of the manager
	 * @param resource the resource that the store and the manager share, for messages
	 * @throws io.idempotency.IdempotencyConfigurationException if the manager does not
	 * exist, or if the method declares a separate transaction
	 */
	public static <M extends TransactionManager> Joined<M> joined(ConfigurableListableBeanFactory beanFactory,
			Method method, Class<?> targetClass, Class<M> type, String resource) {
		MethodTransaction own = of(beanFactory, method, targetClass);
		if (own.wanted != null && !SAME_TRANSACTION.contains(own.wanted.getPropagationBehavior())) {
			throw GuardedMethod.problem(method, targetClass,
					"transaction = JOIN, but its @Transactional starts a separate transaction",
					"Use propagation REQUIRED for @Transactional, or set transaction = TransactionMode.SEPARATE");
		}
		if (isAfterCommit(method)) {
			throw GuardedMethod.problem(method, targetClass,
					"transaction = JOIN, but @TransactionalEventListener calls it after the transaction ends",
					"Set phase = TransactionPhase.BEFORE_COMMIT, or transaction = TransactionMode.SEPARATE");
		}
		try {
			return new Joined<>(own.manager(type), definition(own.wanted));
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw GuardedMethod.problem(method, targetClass,
					"transaction = JOIN, but the transaction manager is missing or ambiguous: " + ex.getMessage(),
					"Declare the transaction manager of the store's " + resource + ", annotate it with @Primary, "
							+ "or name it in @Transactional",
					ex);
		}
	}

	private static boolean isAfterCommit(Method method) {
		TransactionalEventListener listener = AnnotatedElementUtils.findMergedAnnotation(method,
				TransactionalEventListener.class);
		return listener != null && listener.phase() != TransactionPhase.BEFORE_COMMIT;
	}

	/**
	 * Lets the store join an empty transaction. Inside a transaction of another manager,
	 * the first call would write the record into that transaction.
	 */
	private static void tryToJoin(PlatformTransactionManager manager, Method method, Class<?> targetClass,
			IdempotencyStore store) {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			return;
		}
		IdempotencyStore joining = store.joining().orElseThrow();
		TransactionStarter transactions = new SpringTransactionStarter(manager, new DefaultTransactionDefinition());
		try {
			TransactionStarter.StartedTransaction begun = transactions.begin((outcome) -> {
			});
			try {
				joining.release(NO_KEY, ClaimId.random());
			}
			catch (RuntimeException | Error ex) {
				begun.rollback(ex);
				throw ex;
			}
			begun.commit();
		}
		catch (NoTransactionToJoinException ex) {
			throw GuardedMethod.problem(method, targetClass,
					"transaction = JOIN, but its record cannot be stored in " + transactions + ": " + ex.getMessage(),
					"Name the transaction manager of the store's DataSource in @Transactional, or set transaction = "
							+ "TransactionMode.SEPARATE",
					ex);
		}
		catch (RuntimeException ex) {
			logger.debug("Cannot determine before the first call whether records can be stored in {}", transactions,
					ex);
		}
	}

	/**
	 * Finds the transactions of the default manager.
	 * @throws IllegalArgumentException if the manager does not exist
	 */
	public static TransactionStarter joined(BeanFactory beanFactory) {
		try {
			PlatformTransactionManager manager = new MethodTransaction(beanFactory, null, null, null)
				.manager(PlatformTransactionManager.class);
			return new SpringTransactionStarter(manager, definition(null));
		}
		catch (NoSuchBeanDefinitionException ex) {
			throw new IllegalArgumentException("The transaction manager to join is missing or ambiguous. Declare "
					+ "the transaction manager of the store's DataSource, or annotate it with @Primary", ex);
		}
	}

	/**
	 * Returns a function that finds the open transaction that a method's work is part of,
	 * from the innermost transaction of the calling thread.
	 */
	public static UnaryOperator<@Nullable SurroundingTransaction> surrounding(
			ConfigurableListableBeanFactory beanFactory, Method method, Class<?> targetClass) {
		MethodTransaction own = of(beanFactory, method, targetClass);
		if (own.wanted == null) {
			return UnaryOperator.identity();
		}
		if (APART.contains(own.wanted.getPropagationBehavior()) && !own.surroundsTheGuard()) {
			return (current) -> null;
		}
		// A manager may be created later than the guarded bean.
		SingletonSupplier<PlatformTransactionManager> manager = SingletonSupplier.ofNullable(own::managerIfAny);
		return (current) -> (current == null || takesPart(manager.get())) ? current : null;
	}

	private @Nullable PlatformTransactionManager managerIfAny() {
		try {
			return manager(PlatformTransactionManager.class);
		}
		catch (NoSuchBeanDefinitionException ex) {
			// The advice of the method finds its manager in another way.
			return null;
		}
	}

	/** Returns whether the current transaction is one of the manager. */
	private static boolean takesPart(@Nullable PlatformTransactionManager manager) {
		return manager == null || manager.getTransaction(LOOKUP).hasTransaction();
	}

	private static TransactionDefinition lookup() {
		DefaultTransactionDefinition lookup = new DefaultTransactionDefinition(
				TransactionDefinition.PROPAGATION_SUPPORTS);
		// Some managers reject a writing transaction inside a read-only transaction.
		lookup.setReadOnly(true);
		return lookup;
	}

	/**
	 * Returns whether the declared transaction is open when the guard is reached.
	 */
	private boolean surroundsTheGuard() {
		return this.advisor != null && this.beanFactory.getBeanProvider(IdempotentPostProcessor.class)
			.stream()
			.anyMatch((guard) -> guard.isOutside(this.advisor));
	}

	private <M extends TransactionManager> M manager(Class<M> type) {
		try {
			TransactionAttribute wanted = (this.wanted != null) ? this.wanted : new DefaultTransactionAttribute();
			TransactionManager manager = new Choice(this.beanFactory, advice()).of(wanted, this.targetClass);
			if (type.isInstance(manager)) {
				return type.cast(manager);
			}
		}
		catch (NoUniqueBeanDefinitionException ex) {
			if (this.beanFactory.containsBean(DEFAULT_MANAGER) && this.beanFactory.isTypeMatch(DEFAULT_MANAGER, type)) {
				return this.beanFactory.getBean(DEFAULT_MANAGER, type);
			}
		}
		// The other managers may be those of another programming model.
		return this.beanFactory.getBean(type);
	}

	private @Nullable TransactionAspectSupport advice() {
		return (this.advisor != null && this.advisor.getAdvice() instanceof TransactionAspectSupport advice) ? advice
				: this.beanFactory.getBeanProvider(TransactionAspectSupport.class).getIfUnique();
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

	/**
	 * The transactions that records join.
	 *
	 * @param <M> the type of the manager
	 * @param manager begins the transactions
	 * @param definition the definition of the transactions
	 * @hidden
	 */
	public record Joined<M extends TransactionManager>(M manager, TransactionDefinition definition) {
	}

	/** Chooses a manager in the same way as Spring's own advice. */
	private static final class Choice extends TransactionAspectSupport {

		Choice(BeanFactory beanFactory, @Nullable TransactionAspectSupport advice) {
			setBeanFactory(beanFactory);
			if (advice != null) {
				setTransactionManager(advice.getTransactionManager());
			}
		}

		@Nullable TransactionManager of(TransactionAttribute wanted, @Nullable Class<?> targetClass) {
			return determineTransactionManager(wanted, targetClass);
		}

	}

}
