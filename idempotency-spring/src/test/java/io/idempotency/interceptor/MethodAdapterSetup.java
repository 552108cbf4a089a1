package io.idempotency.interceptor;

import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.key.Caller;
import io.idempotency.key.Namespace;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

/**
 * The wiring of the method adapter in a plain application context, without Boot or
 * AspectJ.
 */
@Configuration(proxyBeanMethods = false)
public class MethodAdapterSetup {

	/** A context with the adapter and the given beans. */
	public static AnnotationConfigApplicationContext start(Class<?>... components) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		try {
			context.register(MethodAdapterSetup.class);
			context.register(components);
			context.refresh();
			return context;
		}
		catch (RuntimeException ex) {
			context.close();
			throw ex;
		}
	}

	@Bean
	static IdempotentPostProcessor idempotentPostProcessor(ObjectProvider<IdempotentOperationSource> source,
			ObjectProvider<InvocationAdapter> adapters, ObjectProvider<Namespace> namespace,
			ObjectProvider<Integer> advisorOrder) {
		return new IdempotentPostProcessor(new IdempotencyInterceptor(source, adapters, namespace), source,
				advisorOrder.getIfAvailable(() -> Ordered.HIGHEST_PRECEDENCE));
	}

	@Bean
	IdempotentOperationSource idempotentOperationSource(ConfigurableListableBeanFactory beanFactory, TestStore store,
			ResultCodec codec, ObjectProvider<InvocationAdapter> adapters) {
		return new AnnotationIdempotentOperationSource(beanFactory, IdempotencyOptions.DEFAULTS, "Idempotency-Key",
				store, codec, adapters);
	}

	@Bean
	IdempotencyEngine engine() {
		return new IdempotencyEngine(10, IdempotencyListener.NONE);
	}

	@Bean
	TestStore testStore() {
		return new TestStore();
	}

	@Bean
	ResultCodec codec() {
		return new Jackson2ResultCodec();
	}

	@Bean
	TestRequest request() {
		return new TestRequest();
	}

	@Bean
	MethodAdapter methodAdapter(IdempotencyEngine engine, ResultCodec codec, TestRequest request) {
		OperationKeyReader keys = new OperationKeyReader(20);
		return new MethodAdapter(engine, codec, keys, () -> request, (operation) -> Caller.principal("owner"));
	}

}
