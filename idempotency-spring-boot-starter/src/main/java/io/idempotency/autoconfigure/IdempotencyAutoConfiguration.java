package io.idempotency.autoconfigure;

import java.util.List;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotencyTokens;
import io.idempotency.OperationCoverage;
import io.idempotency.codec.ResultCipher;
import io.idempotency.codec.ResultCodec;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import io.idempotency.engine.DefaultIdempotencyTemplate.TemplateEnvironment;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.EventPublisher;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.interceptor.RequestValues.CurrentRequest;
import io.idempotency.interceptor.InterceptorConfiguration.DefaultStoreFinder;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.InterceptorConfiguration;
import io.idempotency.interceptor.InterceptorConfiguration.InterceptorSettings;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.Scheduler;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.env.Environment;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for idempotent methods: the engine,
 * a store, the codec of results, and the guard of every annotated bean.
 *
 * @since 0.1.0
 */
@AutoConfiguration(afterName = { "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
		"org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
		"org.springframework.boot.jackson2.autoconfigure.Jackson2AutoConfiguration",
		"org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration",
		"org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration" })
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyProperties.class)
@Import({ StoreConfigurations.class, ResultCodecConfigurations.Jackson3.class, ResultCodecConfigurations.Jackson2.class,
		ResultCodecConfigurations.NoResultsWithoutJackson.class, IdempotencyGuardConfiguration.class,
		InterceptorConfiguration.Methods.class, EncryptionKeys.HiddenConfiguration.class, NamespaceConfiguration.class,
		IdempotencyAutoConfiguration.Transactions.class, ReactiveEngineConfiguration.class, })
public final class IdempotencyAutoConfiguration {

	IdempotencyAutoConfiguration() {
	}

	/** Provides time and threads for all beans of this configuration. */
	@Bean
	@ConditionalOnMissingBean
	Scheduler idempotencyScheduler() {
		return Scheduler.system();
	}

	// The bean idempotencyEngineLifecycle closes the engine earlier: when beans are
	// destroyed, connections may be closed already.
	@Bean(destroyMethod = "close")
	@ConditionalOnMissingBean
	IdempotencyEngine idempotencyEngine(IdempotencyProperties properties, ObjectProvider<IdempotencyListener> listeners,
			Scheduler scheduler, EncryptionSelection encryption, ObjectProvider<EngineObserver> observer,
			ClaimOrigin node) {
		return new IdempotencyEngine(properties.maxWaiters(),
				new DetachedCalls.Limits(properties.maxDetachedCalls(), properties.maxDetachedDuration()),
				composite(listeners.orderedStream().toList()), scheduler, InterceptorConfiguration.threadTransactions(),
				encryption.encryption(), observer.getIfUnique(() -> named(node)));
	}

	/**
	 * Calls all listeners of the application in their order; a listener that fails does
	 * not stop the others.
	 */
	static IdempotencyListener composite(List<IdempotencyListener> listeners) {
		return (event, operation) -> listeners.forEach((each) -> EventPublisher.publish(each, event, operation));
	}

	/** Returns an observer that only names the node. */
	private static EngineObserver named(ClaimOrigin node) {
		return new EngineObserver() {

			@Override
			public ClaimOrigin origin() {
				return node;
			}

		};
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	OperationCoverage idempotencyOperationCoverage(ConfigurableListableBeanFactory beanFactory,
			IdempotentOperationSource operations) {
		return new ApplicationCoverage(beanFactory, operations);
	}

	@Bean
	ClaimOrigin idempotencyNode(IdempotencyProperties properties) {
		return NodeName.of(properties);
	}

	@Bean
	InterceptorSettings idempotencyInterceptorSettings(IdempotencyProperties properties) {
		return new InterceptorSettings(properties.key().header(), properties.storeTimeout());
	}

	@Bean
	EncryptionSelection idempotencyEncryption(IdempotencyProperties properties, ObjectProvider<ResultCipher> ciphers) {
		return EncryptionSelection.of(properties.encryption(), ciphers);
	}

	/** Belongs to the context of the engine, which a child context must not close. */
	@Bean
	@ConditionalOnMissingBean
	IdempotencyEngineLifecycle idempotencyEngineLifecycle(IdempotencyEngine engine, EncryptionSelection encryption,
			IdempotencyProperties properties, Environment environment) {
		encryption.check(engine);
		return IdempotencyEngineLifecycle.of(engine, properties.shutdownTimeout(), environment);
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyTokens idempotencyTokens(DefaultStoreFinder stores, IdempotencyProperties properties,
			ObjectProvider<CurrentRequest> request, Namespace namespace, ObjectProvider<EngineObserver> observer) {
		CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
		return IdempotencyEngine.tokens(
				EngineObserver.observed(observer.getIfUnique(() -> EngineObserver.NONE), stores.defaultStore()),
				properties.token().ttl(), current::caller, namespace);
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyAdmin idempotencyAdmin(DefaultStoreFinder stores, Namespace namespace) {
		return IdempotencyEngine.admin(stores.defaultStore(), stores::named, namespace);
	}

	/**
	 * Binds the properties before any other bean is created, so that a wrong value always
	 * fails startup, and no log message of a web server hides it. When the beans are
	 * prepared ahead of time, the values are not available yet.
	 */
	@Bean
	static BeanFactoryPostProcessor idempotencyPropertiesComeFirst(Environment environment) {
		return (beans) -> {
			if (!Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING)) {
				beans.getBean(IdempotencyProperties.class);
				UnknownPropertyCheck.tell(environment, beans);
			}
		};
	}

	/** The defaults of all operations. */
	@Bean
	IdempotencyOptions idempotencyOptions(IdempotencyProperties properties) {
		LeaseTimeCheck.floor(properties);
		return IdempotencyOptions.DEFAULTS.change()
			.retention(properties.retention())
			.lease(properties.lease())
			.renewal(properties.renewal())
			.conflict(properties.conflict())
			.waitTimeout(properties.waitTimeout())
			.onFailure(properties.onFailure())
			.onStoreFailure(properties.onStoreFailure())
			.build();
	}

	@Bean
	DefaultStoreFinder idempotencyStores(ListableBeanFactory beanFactory) {
		return new DefaultStoreFinder(beanFactory);
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyTemplate idempotencyTemplate(IdempotencyEngine engine, DefaultStoreFinder stores, ResultCodec codec,
			IdempotencyOptions options, TemplateEnvironment environment, Namespace namespace) {
		return new DefaultIdempotencyTemplate(engine, stores.defaultStore(), codec, options, environment, namespace);
	}

	@Bean
	OperationKeyReader idempotencyOperationKeys(IdempotencyProperties properties) {
		return new OperationKeyReader(properties.key().maxLength());
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(TransactionExecutionListener.class)
	@Import(InterceptorConfiguration.Transactions.class)
	static class Transactions {

	}

}
