package io.idempotency.autoconfigure.webflux;

import io.idempotency.IdempotencyTokens;
import io.idempotency.autoconfigure.IdempotencyDisabledAutoConfiguration;
import io.idempotency.webflux.IdempotentRoutes;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.reactive.DispatcherHandler;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of the WebFlux beans that an
 * application injects, for {@code idempotency.enabled=false}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyDisabledAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(DispatcherHandler.class)
@ConditionalOnProperty(name = "idempotency.enabled", havingValue = "false")
public final class IdempotencyWebFluxDisabledAutoConfiguration {

	IdempotencyWebFluxDisabledAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotentRoutes idempotentRoutes() {
		return IdempotentRoutes.unguarded();
	}

	@Bean
	@ConditionalOnMissingBean
	ReactiveIdempotencyTokens reactiveIdempotencyTokens(IdempotencyTokens tokens) {
		return (exchange) -> Mono.fromSupplier(tokens::issue).subscribeOn(Schedulers.boundedElastic());
	}

}
