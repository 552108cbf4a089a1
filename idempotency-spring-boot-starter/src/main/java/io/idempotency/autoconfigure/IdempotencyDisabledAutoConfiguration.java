package io.idempotency.autoconfigure;

import java.lang.reflect.Type;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotencyTokens;
import io.idempotency.IssuedToken;
import io.idempotency.TransactionMode;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Namespace;
import io.idempotency.reactor.ReactiveIdempotencyTemplate;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.web.IdempotentRoutes;
import org.jspecify.annotations.Nullable;
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
 * but calls are not guarded.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@ConditionalOnProperty(name = "idempotency.enabled", havingValue = "false")
@EnableConfigurationProperties(IdempotencyProperties.class)
@Import({ EncryptionKeys.HiddenConfiguration.class, NamespaceConfiguration.class })
public final class IdempotencyDisabledAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyDisabledAutoConfiguration.class);

	IdempotencyDisabledAutoConfiguration() {
		logger.info("idempotency.enabled is false: @Idempotent and IdempotencyTemplate guard no calls, and "
				+ "duplicates run again");
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyTemplate idempotencyTemplate() {
		return (operation) -> UnguardedCall.INSTANCE;
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyAdmin idempotencyAdmin(Namespace namespace) {
		MemoryIdempotencyStore empty = new MemoryIdempotencyStore(1 << 16);
		return IdempotencyEngine.admin(empty, (name) -> empty, namespace);
	}

	/**
	 * Tokens are neither stored nor checked, but forms and clients still get a token to
	 * send.
	 */
	@Bean
	@ConditionalOnMissingBean
	IdempotencyTokens idempotencyTokens(IdempotencyProperties properties) {
		return () -> new IssuedToken(UUID.randomUUID().toString(), Instant.now().plus(properties.token().ttl()));
	}

	/** Spring MVC routes that use the filters of the library. */
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

	/**
	 * Declares the beans that reactive code injects, for
	 * {@code idempotency.enabled=false}.
	 */
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

	/** A call that ignores all its settings. */
	private static final class UnguardedCall implements IdempotencyTemplate.Call {

		static final UnguardedCall INSTANCE = new UnguardedCall();

		@Override
		public UnguardedCall key(Object... parts) {
			return this;
		}

		@Override
		public UnguardedCall scope(String scope) {
			return this;
		}

		@Override
		public UnguardedCall fingerprint(@Nullable Object... parts) {
			return this;
		}

		@Override
		public UnguardedCall options(Consumer<? super IdempotencyOptions.Builder> options) {
			return this;
		}

		@Override
		public UnguardedCall token(String token) {
			return this;
		}

		@Override
		public UnguardedCall store(String name) {
			return this;
		}

		@Override
		public UnguardedCall transaction(TransactionMode transaction) {
			return this;
		}

		@Override
		public UnguardedCall recover(Callable<?> recovery) {
			return this;
		}

		@Override
		public <T> CompletableFuture<@Nullable T> executeAsync(Class<T> type,
				Supplier<? extends CompletionStage<? extends @Nullable T>> action) {
			// A guarded call also returns a new future, whatever the stage is.
			CompletableFuture<@Nullable T> result = new CompletableFuture<>();
			action.get().whenComplete((value, failure) -> {
				if (failure != null) {
					result.completeExceptionally(failure);
				}
				else {
					result.complete(value);
				}
			});
			return result;
		}

		@Override
		public <T> @Nullable T execute(Class<T> type, Supplier<? extends @Nullable T> action) {
			return action.get();
		}

		@Override
		public <T> @Nullable T call(Type type, Callable<? extends @Nullable T> action) throws Exception {
			return action.call();
		}

		@Override
		public void run(Runnable action) {
			action.run();
		}

	}

}
