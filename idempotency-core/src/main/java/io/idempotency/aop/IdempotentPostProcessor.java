package io.idempotency.aop;

import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.Internal;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;

/**
 * Puts the guard around beans with guarded methods, and refuses wrong annotations at
 * start-up.
 * <p>
 * Not an advisor bean: with {@code spring.aop.auto=false} such a bean silently does
 * nothing, and with JDK proxies a controller that implements an interface loses its
 * mappings. The guard has a place in the order of advice: inside of what comes before it,
 * such as an application's own authorization, which a replay must pass too, and outside
 * of what comes last unless it is given an order, such as transactions, caching and
 * retries. Whatever the order, it stays inside of method security, where a caller who is
 * denied must use no key and see no replay, and inside of asynchronous execution, where
 * the call that is guarded is the one that does the work. Inside of a transaction its
 * claims end with that.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class IdempotentPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements SmartInitializingSingleton {

	private static final long serialVersionUID = 1L;

	/** Behind the advisors of Spring Security, whose orders are 100 to 600. */
	public static final int DEFAULT_ORDER = 1_000;

	private static final Logger logger = LoggerFactory.getLogger(IdempotentPostProcessor.class);

	private static final String SECURITY = "org.springframework.security.";

	private final transient ObjectProvider<IdempotentOperationSource> source;

	private final int advisorOrder;

	private final transient GuardedClassCheck classCheck = new GuardedClassCheck();

	/**
	 * Classes whose operations are checked when all singletons are there, so that none is
	 * created too early.
	 */
	private final transient Set<Class<?>> unchecked = ConcurrentHashMap.newKeySet();

	private final transient Set<Class<?>> checked = ConcurrentHashMap.newKeySet();

	private volatile boolean started;

	private transient @Nullable BeanFactory beanFactory;

	/**
	 * Creates the post-processor.
	 * @param interceptor the advice
	 * @param source checks the operations of beans
	 * @param advisorOrder advisors of a smaller order stay outside of the guard
	 */
	public IdempotentPostProcessor(MethodInterceptor interceptor, ObjectProvider<IdempotentOperationSource> source,
			int advisorOrder) {
		this.source = source;
		this.advisorOrder = advisorOrder;
		this.advisor = new DefaultPointcutAdvisor(new IdempotentPointcut(), interceptor);
		setBeforeExistingAdvisors(true);
		setProxyTargetClass(true);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		this.beanFactory = beanFactory;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof AopInfrastructureBean || isGuarded(bean)) {
			return bean;
		}
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
		if (this.classCheck.isGuarded(bean, targetClass)) {
			check(targetClass);
		}
		if (bean instanceof Advised advised && !advised.isFrozen() && isEligible(targetClass)) {
			advised.addAdvisor(position(advised), this.advisor);
			return bean;
		}
		return super.postProcessAfterInitialization(bean, beanName);
	}

	/** A second guard around the first would meet the first's claim. */
	private boolean isGuarded(Object bean) {
		Object current = bean;
		while (current instanceof Advised advised) {
			if (this.advisor != null && advised.indexOf(this.advisor) >= 0) {
				return true;
			}
			current = AopProxyUtils.getSingletonTarget(current);
		}
		return false;
	}

	private void check(Class<?> targetClass) {
		if (!this.started) {
			this.unchecked.add(targetClass);
		}
		else if (!this.checked.contains(targetClass)) {
			this.source.getObject().check(targetClass);
			this.checked.add(targetClass);
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.started = true;
		this.unchecked.forEach(this::check);
		if (this.beanFactory instanceof ConfigurableListableBeanFactory beans) {
			for (String name : beans.getBeanDefinitionNames()) {
				if (!beans.containsSingleton(name)) {
					checkUnmade(beans, name);
				}
			}
		}
	}

	/** Beans that are made when they are needed, by the class that is known of them. */
	private void checkUnmade(ConfigurableListableBeanFactory beans, String name) {
		Class<?> type;
		boolean guarded;
		try {
			type = beans.getMergedBeanDefinition(name).isAbstract() ? null : beans.getType(name, false);
			guarded = type != null && !Modifier.isAbstract(type.getModifiers()) && this.classCheck.isGuarded(type);
		}
		catch (BeansException | IllegalStateException | LinkageError ex) {
			// Whoever is not needed may need what is not there.
			logger.debug("The class of the bean '" + name + "' cannot be read", ex);
			return;
		}
		if (guarded && type != null) {
			check(type);
		}
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

	private boolean isOutside(Advisor other) {
		return other.getAdvice() instanceof AsyncExecutionInterceptor
				|| other.getAdvice().getClass().getName().startsWith(SECURITY)
				|| other instanceof Ordered ordered && ordered.getOrder() < this.advisorOrder;
	}

	/** A proxy that takes no advisor is the target of another one. */
	@Override
	protected ProxyFactory prepareProxyFactory(Object bean, String beanName) {
		ProxyFactory proxyFactory = super.prepareProxyFactory(bean, beanName);
		if (bean instanceof Advised) {
			proxyFactory.setTargetSource(new ProxyTargetSource(bean));
		}
		if (Proxy.isProxyClass(bean.getClass()) || bean.getClass().isHidden()) {
			// There is no class to extend.
			proxyFactory.setProxyTargetClass(false);
		}
		return proxyFactory;
	}

}
