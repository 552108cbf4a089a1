package io.idempotency.client;

import java.io.IOException;
import java.net.URI;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.web.client.RestClientAutoConfiguration;
import org.springframework.boot.autoconfigure.web.client.RestTemplateAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.function.client.WebClientAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.web.client.RestTemplateBuilder;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.mock.http.client.MockClientHttpRequest;
import org.springframework.mock.http.client.MockClientHttpResponse;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.WebClient;

import static org.assertj.core.api.Assertions.assertThat;

class IdempotencyClientAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyClientAutoConfiguration.class));

	@Test
	void interceptorAndFilterAreThere() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(IdempotentCalls.class)
			.hasSingleBean(IdempotentCallInterceptor.class)
			.hasSingleBean(IdempotentCallFilter.class));
	}

	@Test
	void keysTravelInTheHeaderOfTheProperty() {
		this.runner.withPropertyValues("idempotency.client.header=X-Request-Id")
			.run((context) -> assertThat(sent(context.getBean(IdempotentCallInterceptor.class)).getHeaders())
				.containsKey("X-Request-Id"));
	}

	private static MockClientHttpRequest sent(IdempotentCallInterceptor interceptor) throws IOException {
		MockClientHttpRequest request = new MockClientHttpRequest(HttpMethod.POST, URI.create("http://a"));
		interceptor.intercept(request, new byte[0],
				(sent, body) -> new MockClientHttpResponse(new byte[0], HttpStatus.OK));
		return request;
	}

	@Test
	void noClientSendsKeysUnlessItIsAsked() {
		this.runner
			.withConfiguration(AutoConfigurations.of(RestClientAutoConfiguration.class,
					RestTemplateAutoConfiguration.class, WebClientAutoConfiguration.class))
			.run((context) -> {
				context.getBean(RestClient.Builder.class)
					.requestInterceptors((interceptors) -> assertThat(interceptors)
						.noneMatch(IdempotentCallInterceptor.class::isInstance));
				assertThat(context.getBean(RestTemplateBuilder.class).build().getInterceptors())
					.noneMatch(IdempotentCallInterceptor.class::isInstance);
				context.getBean(WebClient.Builder.class)
					.filters((filters) -> assertThat(filters).noneMatch(IdempotentCallFilter.class::isInstance));
			});
	}

	@Test
	void beansOfTheApplicationComeFirst() {
		IdempotentCalls calls = IdempotentCalls.DEFAULTS.change().header("X-Key").build();
		this.runner.withBean(IdempotentCalls.class, () -> calls).run((context) -> {
			assertThat(context.getBean(IdempotentCalls.class)).isSameAs(calls);
			assertThat(sent(context.getBean(IdempotentCallInterceptor.class)).getHeaders()).containsKey("X-Key");
		});
	}

	@Test
	void beansAreThereWhereNothingIsGuarded() {
		this.runner.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context).hasSingleBean(IdempotentCallInterceptor.class));
	}

	@Test
	void withoutTheirJarsThereIsNothing() {
		this.runner.withClassLoader(new FilteredClassLoader(ExchangeFilterFunction.class))
			.run((context) -> assertThat(context).hasSingleBean(IdempotentCallInterceptor.class)
				.doesNotHaveBean("idempotentCallFilter"));
		this.runner.withClassLoader(new FilteredClassLoader(Mono.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("idempotentCallFilter"));
		this.runner
			.withClassLoader(new FilteredClassLoader(ClientHttpRequestInterceptor.class, ExchangeFilterFunction.class))
			.run((context) -> assertThat(context).hasSingleBean(IdempotentCalls.class)
				.doesNotHaveBean("idempotentCallInterceptor")
				.doesNotHaveBean("idempotentCallFilter"));
	}

}
