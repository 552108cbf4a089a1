package io.idempotency.autoconfigure.client;

import io.idempotency.client.IdempotentCallInterceptor;
import io.idempotency.client.IdempotentCalls;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ClientHttpRequestInterceptor;

/** Configures the interceptor for RestClient and RestTemplate. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ClientHttpRequestInterceptor.class)
class IdempotentCallInterceptorConfiguration {

	@Bean
	@ConditionalOnMissingBean
	IdempotentCallInterceptor idempotentCallInterceptor(IdempotentCalls calls) {
		return new IdempotentCallInterceptor(calls);
	}

}
