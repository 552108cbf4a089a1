package io.idempotency.autoconfigure;

import io.idempotency.interceptor.InterceptorConfiguration;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

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
@Import(InterceptorConfiguration.Guard.class)
public final class IdempotencyGuardConfiguration {

	IdempotencyGuardConfiguration() {
	}

}
