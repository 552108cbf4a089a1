package io.idempotency.autoconfigure;

import java.security.Principal;
import java.util.List;
import java.util.function.Supplier;

import io.idempotency.IdempotencyOptions;
import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.interceptor.CommitWatch;
import io.idempotency.interceptor.ReactiveMethodAdapter;
import io.idempotency.interceptor.SpringSurroundingTransactions;
import io.idempotency.interceptor.SubscribedRequest;
import io.idempotency.interceptor.SubscribedTransactions;
import io.idempotency.interceptor.SpringTemplateEnvironment;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Namespace;
import io.idempotency.codec.ResultCodec;
import io.idempotency.reactor.EngineReactiveTemplate;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.reactor.ReactiveIdempotencyTemplate;
import io.idempotency.reactor.ReactiveIdempotencyEngine.SurroundingTransactions;
import io.idempotency.engine.EngineIdempotencyTemplate;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Declares the engine of the calls that must not block. It is made by the first adapter
 * that asks for it, so an application that merely has Reactor on its class path has
 * neither the engine nor a thread of it. Its calls end with the close of the other
 * engine, which it depends on.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ Mono.class, ReactiveIdempotencyEngine.class })
class ReactiveEngineConfiguration {

	private static final boolean SECURITY = ClassUtils.isPresent(
			"org.springframework.security.core.context.ReactiveSecurityContextHolder",
			ReactiveEngineConfiguration.class.getClassLoader());

	private static final boolean TRANSACTIONS = ClassUtils.isPresent(
			"org.springframework.transaction.reactive.TransactionSynchronizationManager",
			ReactiveEngineConfiguration.class.getClassLoader());

	@Bean(destroyMethod = "close")
	@Lazy
	@ConditionalOnMissingBean
	ReactiveIdempotencyEngine reactiveIdempotencyEngine(IdempotencyEngine engine,
			ObjectProvider<ReactiveIdempotencyStore> stores, IdempotencyProperties properties) {
		return new ReactiveIdempotencyEngine(engine, stores.stream().toList(),
				TRANSACTIONS ? new SpringSurroundingTransactions() : SurroundingTransactions.NONE,
				properties.maxDetachedCalls());
	}

	@Bean
	ReactiveMethodAdapter idempotencyReactiveMethodAdapter(MethodAdapter adapter,
			ObjectProvider<ReactiveIdempotencyEngine> engine, ObjectProvider<CurrentRequest> request,
			ConfigurableListableBeanFactory beanFactory, IdempotencyProperties properties) {
		CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
		Supplier<SubscribedRequest> here = () -> new SubscribedRequest(current.values(), current::owner);
		return new ReactiveMethodAdapter(adapter, engine::getObject,
				new SubscribedTransactions(beanFactory, properties.storeTimeout()), here,
				SECURITY ? Logins.current() : Mono.empty());
	}

	@Bean
	@ConditionalOnMissingBean
	ReactiveIdempotencyTemplate reactiveIdempotencyTemplate(IdempotencyEngine engine, DefaultStoreFinder stores,
			ResultCodec codec, IdempotencyOptions options, BeanFactory beanFactory,
			ObjectProvider<CurrentRequest> request, Namespace namespace,
			ObjectProvider<ReactiveIdempotencyEngine> reactive) {
		CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
		EngineIdempotencyTemplate template = new EngineIdempotencyTemplate(engine, stores.defaultStore(), codec,
				options, new SpringTemplateEnvironment(beanFactory, codec, current::caller), namespace);
		return new EngineReactiveTemplate(template, reactive::getObject);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ReactiveTransactionManager.class)
	static class Commits {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static CommitWatch idempotencyCommitWatch() {
			return new CommitWatch();
		}

	}

	/** Loaded only if Spring Security is present. */
	private static final class Logins {

		/** Returns who is logged in where a subscription is made. */
		static Mono<Principal> current() {
			return ReactiveSecurityContextHolder.getContext()
				.mapNotNull(SecurityContext::getAuthentication)
				// Nobody, and not a user of that name.
				.filter((login) -> !(login instanceof AnonymousAuthenticationToken))
				.cast(Principal.class);
		}

	}

}
