package io.idempotency.client;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import reactor.core.publisher.Mono;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for calls of other services. This
 * configuration declares beans, and an application adds them to the clients that send
 * keys. No client gets such a bean automatically.
 * <p>
 * The beans also exist with {@code idempotency.enabled=false}, which applies only to the
 * calls that this application receives.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@EnableConfigurationProperties(IdempotencyClientAutoConfiguration.ClientProperties.class)
public final class IdempotencyClientAutoConfiguration {

	IdempotencyClientAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotentCalls idempotentCalls(ClientProperties properties) {
		return IdempotentCalls.DEFAULTS.change().header(properties.header()).build();
	}

	/** Configures the filter for WebClient. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ExchangeFilterFunction.class, Mono.class })
	static class FilterConfiguration {

		@Bean
		@ConditionalOnMissingBean
		IdempotentCallFilter idempotentCallFilter(IdempotentCalls calls) {
			return new IdempotentCallFilter(calls);
		}

	}

	/** Configures the interceptor for RestClient and RestTemplate. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ClientHttpRequestInterceptor.class)
	static class InterceptorConfiguration {

		@Bean
		@ConditionalOnMissingBean
		IdempotentCallInterceptor idempotentCallInterceptor(IdempotentCalls calls) {
			return new IdempotentCallInterceptor(calls);
		}

	}

	/**
	 * Properties of clients that send keys.
	 *
	 * @param header Name of the request header in which clients send the key.
	 */
	@ConfigurationProperties("idempotency.client")
	record ClientProperties(@DefaultValue("Idempotency-Key") String header) {
	}

}
