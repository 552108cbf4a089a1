package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.Idempotent;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.aop.target.AbstractBeanFactoryBasedTargetSource;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * A bean post-processor that adds the guard to beans with guarded methods, and rejects
 * invalid annotations at startup.
 * <p>
 * The guard is not an advisor bean, for two reasons: with {@code spring.aop.auto=false}
 * an advisor bean silently does nothing, and with JDK proxies a controller that
 * implements an interface loses its mappings.
 * <p>
 * The guard has an order among the advice of a bean. It is inside advice with a smaller
 * order, such as the application's own authorization, because a replay must pass that
 * too. It is outside advice without an order, such as transactions, caching and retries.
 * <p>
 * With any order, the guard is inside method security: a denied caller must not use a key
 * or receive a replay. It is also inside asynchronous execution, so that it guards the
 * call that does the work. If an application orders a transaction outside the guard, the
 * claims end with that transaction.
 */
final class IdempotentPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements SmartInitializingSingleton {

	private static final long serialVersionUID = 1L;

	/**
	 * The default order: after the advisors of Spring Security, whose orders are 100 to
	 * 600.
	 */
	static final int DEFAULT_ORDER = 1_000;

	private static final Logger logger = LoggerFactory.getLogger(IdempotentPostProcessor.class);

	private static final String SECURITY = "org.springframework.security.";

	private final transient ObjectProvider<IdempotentOperationSource> source;

	private final transient MethodInterceptor guard;

	private final int advisorOrder;

	private final transient GuardedClassCheck classCheck = new GuardedClassCheck();

	private final transient SharedKeyCheck keyCheck = new SharedKeyCheck();

	/**
	 * The beans to check after all singletons are created, so that a check does not
	 * create a bean too early.
	 */
	private final transient Set<GuardedBean> unchecked = ConcurrentHashMap.newKeySet();

	private final transient Set<GuardedBean> checked = ConcurrentHashMap.newKeySet();

	/** The first names of the targets of guarded beans, until the context started. */
	private final transient Map<Object, String> targets = Collections.synchronizedMap(new IdentityHashMap<>());

	private volatile boolean started;

	private transient @Nullable ConfigurableListableBeanFactory beans;

	/**
	 * Creates the post-processor.
	 * @param interceptor the advice
	 * @param source checks the operations of beans
	 * @param advisorOrder the order of the guard; advisors with a smaller order are
	 * outside it
	 */
	IdempotentPostProcessor(MethodInterceptor interceptor, ObjectProvider<IdempotentOperationSource> source,
			int advisorOrder) {
		this.guard = interceptor;
		this.source = source;
		this.advisorOrder = advisorOrder;
		this.advisor = new DefaultPointcutAdvisor(new IdempotentPointcut(), interceptor);
		setBeforeExistingAdvisors(true);
		setProxyTargetClass(true);
		// The post-processors of message listeners come last. They store the bean that
		// they receive, which must be the guarded one.
		setOrder(Ordered.LOWEST_PRECEDENCE - 1);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		this.beans = (beanFactory instanceof ConfigurableListableBeanFactory listable) ? listable : null;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		// A pool, or a proxy of prototypes, supplies beans, which have their own guard.
		boolean supplies = bean instanceof TargetSource || bean instanceof Advised proxy
				&& proxy.getTargetSource() instanceof AbstractBeanFactoryBasedTargetSource targets
				&& targets.getBeanFactory() == this.beans;
		if (bean instanceof AopInfrastructureBean || supplies || IdempotencyInterceptor.guards(this.guard, bean)) {
			return bean;
		}
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
		Class<?> guardedClass = guardedClass(bean, targetClass);
		if (guardedClass != null) {
			check(new GuardedBean(name(bean, beanName), guardedClass));
		}
		else if (targetClass == bean.getClass()) {
			// Only a proxy has methods that its class does not declare.
			return bean;
		}
		if (bean instanceof Advised advised && !advised.isFrozen() && isEligible(targetClass)) {
			advised.addAdvisor(position(advised), this.advisor);
			return bean;
		}
		return super.postProcessAfterInitialization(bean, beanName);
	}

	/**
	 * Returns the class that a bean will have, for ahead-of-time processing. A class that
	 * another post-processor generated is not changed, because the guard is added to its
	 * proxy as a further advisor.
	 */
	@Override
	public Class<?> determineBeanType(Class<?> beanClass, String beanName) {
		if (SpringProxy.class.isAssignableFrom(beanClass) || Proxy.isProxyClass(beanClass) || beanClass.isHidden()) {
			return beanClass;
		}
		// A class that no proxy can extend is rejected here with the same message as at
		// startup.
		return this.classCheck.isGuarded(beanClass) ? super.determineBeanType(beanClass, beanName) : beanClass;
	}

	/**
	 * Returns the class whose annotations apply to a bean: the class behind its proxies,
	 * or the class of the proxy itself, whose interfaces may declare further methods.
	 */
	private @Nullable Class<?> guardedClass(Object bean, Class<?> targetClass) {
		if (this.classCheck.isGuarded(bean, targetClass)) {
			return targetClass;
		}
		return Proxy.isProxyClass(bean.getClass()) && this.classCheck.isGuarded(bean, bean.getClass()) ? bean.getClass()
				: null;
	}

	/**
	 * Returns the name of a bean, empty for an inner bean and for a bean without a
	 * definition. A bean that had no guard when it was created may get one under each of
	 * its names.
	 */
	private String name(Object bean, String beanName) {
		if (this.beans == null || !this.beans.containsBeanDefinition(beanName)) {
			return "";
		}
		Object target = bean;
		for (Object inner = bean; inner != null; inner = inner(inner)) {
			target = inner;
		}
		String known = this.started ? null : this.targets.putIfAbsent(target, beanName);
		return (known != null) ? known : beanName;
	}

	private static @Nullable Object inner(Object bean) {
		return (bean instanceof Advised proxy && proxy.getTargetSource() instanceof HotSwappableTargetSource swappable)
				? swappable.getTarget() : AopProxyUtils.getSingletonTarget(bean);
	}

	private void check(GuardedBean bean) {
		if (!this.started) {
			this.unchecked.add(bean);
		}
		else if (!this.checked.contains(bean)) {
			Collection<IdempotentOperation> shared = this.source.getObject().check(bean.type());
			if (this.beans != null && !bean.name().isEmpty()) {
				this.keyCheck.check(bean.name(), shared, this.beans);
			}
			this.checked.add(bean);
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.started = true;
		this.targets.clear();
		this.unchecked.forEach(this::check);
		if (this.beans != null) {
			for (String name : this.beans.getBeanDefinitionNames()) {
				if (!this.beans.containsSingleton(name)) {
					checkUnmade(this.beans, name);
				}
			}
		}
	}

	/** Checks a bean that is created lazily, by its declared class. */
	private void checkUnmade(ConfigurableListableBeanFactory beans, String name) {
		BeanDefinition definition;
		Class<?> type;
		boolean guarded;
		try {
			definition = beans.getMergedBeanDefinition(name);
			type = definition.isAbstract() ? null : beans.getType(name, false);
			guarded = type != null && !Modifier.isAbstract(type.getModifiers()) && this.classCheck.isGuarded(type);
		}
		catch (BeansException | IllegalStateException | LinkageError ex) {
			// A bean that is never created may refer to missing classes.
			logger.debug("The class of the bean '" + name + "' cannot be read", ex);
			return;
		}
		if (guarded && type != null) {
			check(new GuardedBean(isMadeOf(definition, type) ? name : "", type));
		}
	}

	/**
	 * Returns whether a bean has its declared class; a factory method may return another.
	 */
	private static boolean isMadeOf(BeanDefinition definition, Class<?> type) {
		return definition instanceof AbstractBeanDefinition made && made.getFactoryMethodName() == null
				&& made.getInstanceSupplier() == null && type.getName().equals(made.getBeanClassName());
	}

	private int position(Advised advised) {
		Advisor[] advisors = advised.getAdvisors();
		int position = 0;
		for (int i = 0; i < advisors.length; i++) {
			if (isOutside(advisors[i])) {
				position = i + 1;
			}
		}
		return position;
	}

	/** Returns whether other advice of a bean is outside the guard. */
	boolean isOutside(Advisor other) {
		return other.getAdvice() instanceof AsyncExecutionInterceptor
				|| other.getAdvice().getClass().getName().startsWith(SECURITY)
				|| other instanceof Ordered ordered && ordered.getOrder() < this.advisorOrder;
	}

	/** Lets a proxy that does not accept advisors be the target of another proxy. */
	@Override
	protected ProxyFactory prepareProxyFactory(Object bean, String beanName) {
		ProxyFactory proxyFactory = super.prepareProxyFactory(bean, beanName);
		if (bean instanceof Advised) {
			Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
			Class<?> guardedClass = guardedClass(bean, targetClass);
			proxyFactory
				.setTargetSource(new ProxyTargetSource(bean, (guardedClass != null) ? guardedClass : targetClass));
		}
		if (Proxy.isProxyClass(bean.getClass()) || bean.getClass().isHidden()) {
			// The class of the bean is generated and cannot be extended.
			proxyFactory.setProxyTargetClass(false);
		}
		return proxyFactory;
	}

	/** Matches the methods that have the annotation, or whose class has it. */
	private static final class IdempotentPointcut extends StaticMethodMatcherPointcut {

		IdempotentPointcut() {
			setClassFilter((type) -> AnnotationUtils.isCandidateClass(type, Idempotent.class));
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return IdempotentAnnotation.find(method, targetClass) != null;
		}

	}

	/** A class of beans, and the name of the bean, empty without a name. */
	private record GuardedBean(String name, Class<?> type) {
	}

	/** A target that is itself a proxy, with the class whose annotations apply. */
	record ProxyTargetSource(Object proxy, Class<?> guardedClass) implements TargetSource {

		@Override
		public Class<?> getTargetClass() {
			return this.guardedClass;
		}

		@Override
		public boolean isStatic() {
			return true;
		}

		@Override
		public Object getTarget() {
			return this.proxy;
		}

	}

	/**
	 * Rejects a second bean of a class whose operations are named after the class: a call
	 * of one bean would return the result of the other. Several objects of one bean, such
	 * as prototypes, are the same bean. Thread-safe.
	 */
	static final class SharedKeyCheck {

		/** The names of beans by the names of their operations. */
		private final Map<String, String> beans = new ConcurrentHashMap<>();

		/**
		 * Checks the operations of a bean.
		 * @param shared the operations whose keys are common to all beans of the class
		 * @throws io.idempotency.IdempotencyConfigurationException if another bean also
		 * has them
		 */
		void check(String beanName, Collection<IdempotentOperation> shared,
				ConfigurableListableBeanFactory beanFactory) {
			for (IdempotentOperation operation : shared) {
				String other = this.beans.merge(operation.name(), beanName,
						(known, added) -> beanFactory.containsBeanDefinition(known) ? known : added);
				if (!other.equals(beanName)) {
					throw operation.problem(
							"the beans '" + other + "' and '" + beanName
									+ "' have the same keys, so a call to one would return the result of the other",
							"Set scope to a value that distinguishes them, e.g. scope = \"target.name\" for a bean "
									+ "property, or use a separate class for each bean. To share the keys "
									+ "intentionally, set scope to a constant, e.g. scope = \"'payments'\", or set "
									+ "operation");
				}
			}
		}

	}

}
