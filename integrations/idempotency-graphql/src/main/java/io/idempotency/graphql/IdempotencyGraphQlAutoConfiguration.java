package io.idempotency.graphql;

import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.interceptor.RequestValues.CurrentRequest;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.codec.ResultCodec;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.graphql.execution.GraphQlSource;
import org.springframework.graphql.server.WebGraphQlInterceptor;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for Spring for GraphQL: each guarded
 * field is a separate call. The error of a rejected field contains the reason and the
 * retry advice for the key.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass(DataFetcherExceptionResolver.class)
@ConditionalOnBean(MethodAdapter.class)
public final class IdempotencyGraphQlAutoConfiguration {

	IdempotencyGraphQlAutoConfiguration() {
	}

	@Bean
	GraphQlAdapter idempotencyGraphQlAdapter(MethodAdapter methods, OperationKeyReader keys, ResultCodec codec,
			IdempotencyProperties properties, ObjectProvider<GraphQlSource> sources,
			ObjectProvider<DataFetcherExceptionResolver> resolvers) {
		return new GraphQlAdapter(methods, keys, codec, properties.key().header(), sources, resolvers);
	}

	@Bean
	CurrentField idempotencyCurrentGraphQlField() {
		return new CurrentField();
	}

	@Bean
	static CurrentField.Threads idempotencyGraphQlThreads() {
		return new CurrentField.Threads();
	}

	@Bean
	RejectionExceptionResolver idempotencyGraphQlExceptionResolver(ResultCodec codec) {
		return new RejectionExceptionResolver(codec);
	}

	/** Documents that arrive in requests. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	static class WebConfiguration {

		@Bean
		WebGraphQlInterceptor idempotencyGraphQlRequestReader(ObjectProvider<CurrentRequest> request) {
			CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
			return GraphQlRequestSnapshot.reader(current::values, () -> current.owner("GraphQL"));
		}

	}

}
