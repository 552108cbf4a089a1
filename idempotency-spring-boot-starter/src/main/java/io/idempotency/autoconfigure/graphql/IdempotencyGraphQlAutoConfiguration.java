package io.idempotency.autoconfigure.graphql;

import io.idempotency.autoconfigure.engine.IdempotencyAutoConfiguration;
import io.idempotency.engine.IdempotencyEngine;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for Spring for GraphQL: a refused
 * mutation tells its client why it was refused, and what to do with the key.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass(DataFetcherExceptionResolver.class)
@ConditionalOnBean(IdempotencyEngine.class)
public final class IdempotencyGraphQlAutoConfiguration {

	IdempotencyGraphQlAutoConfiguration() {
	}

	@Bean
	RefusalExceptionResolver idempotencyGraphQlExceptionResolver() {
		return new RefusalExceptionResolver();
	}

}
