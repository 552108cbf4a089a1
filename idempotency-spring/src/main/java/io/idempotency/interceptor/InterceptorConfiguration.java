package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.security.Principal;
import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.Internal;
import io.idempotency.codec.ResultCodec;
import io.idempotency.engine.DefaultIdempotencyTemplate.TemplateEnvironment;
import io.idempotency.engine.GuardedAction.ThreadTransactions;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.RequestValues.CurrentRequest;
import io.idempotency.key.Namespace;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyEngine.SurroundingTransactions;
import io.idempotency.store.IdempotencyStore;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The configurations of this package. The starter imports each one under its conditions.
 *
 * @hidden
 */
@Internal
public final class InterceptorConfiguration {

	private static final boolean TRANSACTIONS = isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager");

	private InterceptorConfiguration() {
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, InterceptorConfiguration.class.getClassLoader());
	}

	/** Returns the transactions of the calling threads. */
	public static ThreadTransactions threadTransactions() {
		return TRANSACTIONS ? new CommitTracker() : ThreadTransactions.NONE;
	}

	/**
	 * Declares the guard of the beans of one application context.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static class Guard {

		/**
		 * Declares the post-processor. Its direct dependencies would be created before
		 * other post-processors and would not be processed by them, so it gets only
		 * providers.
		 */
		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static IdempotentPostProcessor idempotentPostProcessor(ObjectProvider<IdempotentOperationSource> source,
				ObjectProvider<InvocationAdapter> adapters, ObjectProvider<Namespace> namespace,
				Environment environment) {
			int advisorOrder = environment.getProperty("idempotency.advisor-order", Integer.class,
					IdempotentPostProcessor.DEFAULT_ORDER);
			return new IdempotentPostProcessor(new IdempotencyInterceptor(source, adapters, namespace), source,
					advisorOrder);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		IdempotentOperationSource idempotentOperationSource(ConfigurableListableBeanFactory beanFactory,
				InterceptorSettings settings, IdempotencyOptions options, DefaultStoreFinder stores, ResultCodec codec,
				ObjectProvider<InvocationAdapter> adapters) {
			return new AnnotationIdempotentOperationSource(beanFactory, options, settings.keyHeader(),
					stores.defaultStore(), codec, adapters);
		}

	}

	/**
	 * Declares the adapters of bean methods and event listeners, and the template
	 * support.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static class Methods {

		@Bean
		MethodAdapter idempotencyMethodAdapter(IdempotencyEngine engine, ResultCodec codec, OperationKeyReader keys,
				ObjectProvider<CurrentRequest> request) {
			CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
			return new MethodAdapter(engine, codec, keys, current::values, current::owner);
		}

		@Bean
		EventListenerAdapter idempotencyEventListenerAdapter(MethodAdapter methods) {
			return new EventListenerAdapter(methods);
		}

		@Bean
		UnguardedContextCheck idempotencyUnguardedContexts() {
			return new UnguardedContextCheck();
		}

		@Bean
		TemplateEnvironment idempotencyTemplateEnvironment(BeanFactory beanFactory, ResultCodec codec,
				ObjectProvider<CurrentRequest> request) {
			CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
			return new SpringTemplateEnvironment(beanFactory, codec, current::caller);
		}

	}

	/**
	 * Declares the adapter of methods that return publishers. Needs Reactor and
	 * idempotency-reactor.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static class ReactiveMethods {

		@Bean
		SubscribedTransactions idempotencySubscribedTransactions(ConfigurableListableBeanFactory beanFactory,
				InterceptorSettings settings) {
			return new SubscribedTransactions(beanFactory, settings.storeTimeout());
		}

		@Bean
		SurroundingTransactions idempotencySurroundingTransactions() {
			return isPresent("org.springframework.transaction.reactive.TransactionSynchronizationManager")
					? new SpringSurroundingTransactions() : SurroundingTransactions.NONE;
		}

		@Bean
		ReactiveMethodAdapter idempotencyReactiveMethodAdapter(MethodAdapter methods,
				ObjectProvider<ReactiveIdempotencyEngine> engine, SubscribedTransactions transactions,
				ObjectProvider<CurrentRequest> request, ObjectProvider<SubscribedRequest.Source> requests) {
			CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
			Mono<Principal> login = isPresent("org.springframework.security.core.context.ReactiveSecurityContextHolder")
					? Logins.current() : Mono.empty();
			return new ReactiveMethodAdapter(methods, engine::getObject, transactions,
					() -> new SubscribedRequest(current.values(), current::owner), login, requests::getIfAvailable);
		}

		/** Loaded only if Spring Security is present. */
		private static final class Logins {

			/** Returns the authentication of the subscription. */
			static Mono<Principal> current() {
				return ReactiveSecurityContextHolder.getContext()
					.mapNotNull(SecurityContext::getAuthentication)
					// An anonymous caller is not a user with that name.
					.filter((login) -> !(login instanceof AnonymousAuthenticationToken))
					.cast(Principal.class);
			}

		}

	}

	/**
	 * Declares the listener of transactions. Needs spring-tx.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static class Transactions {

		@Bean
		static TransactionExecutionListener idempotencyTransactionListener() {
			return new CommitTracker();
		}

		@Bean
		static SmartInitializingSingleton idempotencyTransactionManagerCheck(
				ConfigurableListableBeanFactory beanFactory) {
			return () -> CommitTracker.logUntracked(beanFactory);
		}

	}

	/**
	 * The settings of {@link InterceptorConfiguration}.
	 *
	 * @param keyHeader the key header of handlers whose annotation names no key source
	 * @param storeTimeout the timeout for the begin and the end of a reactive transaction
	 * @hidden
	 */
	public record InterceptorSettings(String keyHeader, Duration storeTimeout) {

	}

	/**
	 * Determines whether the guard is the first advice in a call of a bean.
	 *
	 * @hidden
	 */
	public static final class AdvisorPosition {

		private AdvisorPosition() {
		}

		/**
		 * Returns whether no other advice of a method is outside its guard.
		 * @param bean the bean as it is called
		 * @param method one of its methods
		 * @return whether the guard comes first; {@code false} if that is unknown
		 */
		public static boolean isOf(Object bean, Method method) {
			if (!(bean instanceof Advised advised)) {
				return false;
			}
			Class<?> targetClass = AopUtils.getTargetClass(bean);
			Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor.getAdvice() instanceof IdempotencyInterceptor) {
					return true;
				}
				if (mayAdvise(advisor, specific, targetClass)) {
					return false;
				}
			}
			return false;
		}

		private static boolean mayAdvise(Advisor advisor, Method method, Class<?> targetClass) {
			if (advisor == ExposeInvocationInterceptor.ADVISOR) {
				return false;
			}
			return !(advisor instanceof PointcutAdvisor pointcut)
					|| pointcut.getPointcut().getClassFilter().matches(targetClass)
							&& pointcut.getPointcut().getMethodMatcher().matches(method, targetClass);
		}

	}

	/**
	 * Finds the default store: the only store, the primary store, or the store named
	 * {@value #DEFAULT_NAME}.
	 *
	 * @hidden
	 */
	public static final class DefaultStoreFinder {

		static final String DEFAULT_NAME = "idempotencyStore";

		private final ListableBeanFactory beanFactory;

		private final SingletonSupplier<IdempotencyStore> defaultStore;

		public DefaultStoreFinder(ListableBeanFactory beanFactory) {
			this.beanFactory = beanFactory;
			this.defaultStore = SingletonSupplier.of(this::find);
		}

		public IdempotencyStore defaultStore() {
			return this.defaultStore.obtain();
		}

		/**
		 * Finds a store by the name of its bean.
		 * @throws IllegalArgumentException if the store does not exist
		 */
		public IdempotencyStore named(String name) {
			IdempotencyStore store = this.beanFactory.getBeansOfType(IdempotencyStore.class).get(name);
			if (store == null) {
				throw new IllegalArgumentException("'" + name + "' is not a bean of type IdempotencyStore");
			}
			return store;
		}

		private IdempotencyStore find() {
			IdempotencyStore unique = this.beanFactory.getBeanProvider(IdempotencyStore.class).getIfUnique();
			if (unique != null) {
				return unique;
			}
			Map<String, IdempotencyStore> stores = this.beanFactory.getBeansOfType(IdempotencyStore.class);
			IdempotencyStore named = stores.get(DEFAULT_NAME);
			if (named != null) {
				return named;
			}
			throw new IdempotencyConfigurationException(
					"The application has several stores, but no default store: " + new TreeSet<>(stores.keySet()),
					"Annotate one of them with @Primary or name it '" + DEFAULT_NAME + "'. Select the others with the "
							+ "attribute 'store' of @Idempotent.");
		}

	}

}
