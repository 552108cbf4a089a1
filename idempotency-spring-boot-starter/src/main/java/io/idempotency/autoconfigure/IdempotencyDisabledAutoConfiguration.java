package io.idempotency.autoconfigure;

import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotencyTokens;
import io.idempotency.IssuedToken;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Namespace;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.reactor.ReactiveIdempotencyTemplate;
import io.idempotency.web.IdempotentRoutes;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for
 * {@code idempotency.enabled=false}: code that uses the template and tokens still works,
 * but nothing is guarded.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@ConditionalOnProperty(name = "idempotency.enabled", havingValue = "false")
@EnableConfigurationProperties(IdempotencyProperties.class)
@Import({ HiddenKeysConfiguration.class, NamespaceConfiguration.class })
public final class IdempotencyDisabledAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyDisabledAutoConfiguration.class);

	IdempotencyDisabledAutoConfiguration() {
		logger.info("idempotency.enabled is false: no call is guarded, by @Idempotent or by IdempotencyTemplate, so "
				+ "that a duplicate runs again");
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyTemplate idempotencyTemplate() {
		return UnguardedIdempotencyTemplate.INSTANCE;
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyAdmin idempotencyAdmin(Namespace namespace) {
		MemoryIdempotencyStore empty = new MemoryIdempotencyStore(1 << 16);
		return IdempotencyEngine.admin(empty, (name) -> empty, namespace);
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyTokens idempotencyTokens(IdempotencyProperties properties) {
		return new UnguardedIdempotencyTokens(properties.token().ttl());
	}

	/** Routes of Spring MVC, which may ask for their filters. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	@ConditionalOnClass(name = { "org.springframework.web.servlet.function.HandlerFilterFunction",
			"io.idempotency.web.IdempotentRoutes" })
	static class UnguardedRoutes {

		@Bean
		@ConditionalOnMissingBean
		IdempotentRoutes idempotentRoutes() {
			return IdempotentRoutes.unguarded();
		}

	}

	/** Declares what reactive code injects, for {@code idempotency.enabled=false}. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ Mono.class, ReactiveIdempotencyTemplate.class })
	static class UnguardedReactive {

		@Bean
		@ConditionalOnMissingBean
		ReactiveIdempotencyTemplate reactiveIdempotencyTemplate() {
			return new ReactiveIdempotencyTemplate() {

				@Override
				public <T> Mono<T> call(String operation, Consumer<? super IdempotencyTemplate.Call> description,
						Type type, Supplier<? extends Publisher<? extends T>> action) {
					return Mono.defer(() -> Flux.<T>from(action.get()).singleOrEmpty());
				}

			};
		}

	}

	/**
	 * The tokens for {@code idempotency.enabled=false}: they are neither stored nor
	 * checked, but forms and clients still get a token to send.
	 */
	private static final class UnguardedIdempotencyTokens implements IdempotencyTokens {

		private final Duration timeToLive;

		UnguardedIdempotencyTokens(Duration timeToLive) {
			this.timeToLive = timeToLive;
		}

		@Override
		public IssuedToken issue() {
			return new IssuedToken(UUID.randomUUID().toString(), Instant.now().plus(this.timeToLive));
		}

	}

}
