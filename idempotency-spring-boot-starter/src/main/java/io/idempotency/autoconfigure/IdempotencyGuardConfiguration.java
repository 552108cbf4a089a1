package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyOptions;
import io.idempotency.interceptor.IdempotencyInterceptor;
import io.idempotency.interceptor.IdempotentOperationSource;
import io.idempotency.interceptor.InvocationAdapter;
import io.idempotency.interceptor.AnnotationIdempotentOperationSource;
import io.idempotency.interceptor.IdempotentPostProcessor;
import io.idempotency.key.Namespace;
import io.idempotency.codec.ResultCodec;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Declares the guard around the annotated beans of one application context. The context
 * of an application has it; a child context, such as that of a second
 * {@code DispatcherServlet}, imports it, and shares everything else with its parent:
 *
 * <pre class="code">
 * &#064;Configuration
 * &#064;EnableWebMvc
 * &#064;Import(IdempotencyGuardConfiguration.class)
 * class PartnerApiConfiguration {
 * </pre>
 *
 * A child with annotated beans and without the guard does not start.
 *
 * @since 0.1.0
 */
@Configuration(proxyBeanMethods = false)
public final class IdempotencyGuardConfiguration {

	IdempotencyGuardConfiguration() {
	}

	/**
	 * Declares the post-processor. A bean that it needed directly would be created before
	 * other post-processors and would miss them, so it gets only providers.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static IdempotentPostProcessor idempotentPostProcessor(ObjectProvider<IdempotentOperationSource> source,
			ObjectProvider<InvocationAdapter> adapters, ObjectProvider<Namespace> namespace, Environment environment) {
		int advisorOrder = Binder.get(environment)
			.bind("idempotency.advisor-order", Integer.class)
			.orElse(IdempotentPostProcessor.DEFAULT_ORDER);
		return new IdempotentPostProcessor(new IdempotencyInterceptor(source, adapters, namespace), source,
				advisorOrder);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	IdempotentOperationSource idempotentOperationSource(ConfigurableListableBeanFactory beanFactory,
			IdempotencyProperties properties, IdempotencyOptions options, DefaultStoreFinder stores, ResultCodec codec,
			ObjectProvider<InvocationAdapter> adapters) {
		return new AnnotationIdempotentOperationSource(beanFactory, options, properties.key().header(),
				stores.defaultStore(), codec, adapters);
	}

}
