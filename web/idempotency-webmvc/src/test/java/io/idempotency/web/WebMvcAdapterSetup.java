package io.idempotency.web;

import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;

import io.idempotency.ScopeMode;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.interceptor.InterceptorConfiguration.DefaultStoreFinder;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.InterceptorConfiguration;
import io.idempotency.interceptor.InterceptorConfiguration.InterceptorSettings;
import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.interceptor.MethodAdapter.OperationFingerprinter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.http.HttpSettings;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.mock.web.MockServletContext;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/**
 * The wiring of the HTTP adapter in a plain web application context, without Boot.
 */
@Configuration(proxyBeanMethods = false)
@EnableWebMvc
@Import(InterceptorConfiguration.Guard.class)
class WebMvcAdapterSetup {

	/** Small limits, so that tests can pass them. */
	static final HttpSettings SETTINGS = new HttpSettings("Idempotent-Replayed", 2000, 1000,
			HttpSettings.DEFAULTS.releaseOn(), Set.of("x-excluded"), false, ScopeMode.PRINCIPAL, false, Set.of(),
			Set.of("X-Compared"), Set.of("utm_source"), "urn:idempotency:", null, "/idempotency/tokens");

	/** A context with the adapter and the given beans. */
	static WebApplicationContext start(Class<?>... components) {
		AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();
		context.setServletContext(new MockServletContext());
		context.register(WebMvcAdapterSetup.class);
		context.register(components);
		context.refresh();
		return context;
	}

	/** A client of the beans of a context, through the filter. */
	static MockMvc client(WebApplicationContext context) {
		return MockMvcBuilders.webAppContextSetup(context).addFilters(context.getBean(IdempotencyFilter.class)).build();
	}

	@Bean
	HttpSettings httpSettings() {
		return SETTINGS;
	}

	@Bean
	IdempotencyFilter idempotencyFilter(HttpSettings settings, ObjectProvider<IdempotentOperationSource> source) {
		Supplier<IdempotentOperationSource> lookup = () -> source.getObject();
		return new IdempotencyFilter(settings, lookup, false);
	}

	@Bean
	ReplayExceptionResolver replayExceptionResolver() {
		return new ReplayExceptionResolver();
	}

	@Bean
	IdempotencyProblemResolver idempotencyProblemResolver(ApplicationContext context, HttpSettings settings) {
		return new IdempotencyProblemResolver(context, settings);
	}

	@Bean
	WebMvcAdapter webMvcAdapter(IdempotencyEngine engine, ResultCodec codec, WebMvcCallerResolver callers,
			HttpSettings settings) {
		return new WebMvcAdapter(engine, new OperationKeyReader(20), new OperationFingerprinter(codec), callers,
				settings);
	}

	@Bean
	WebMvcCallerResolver httpCallers(HttpSettings settings, ObjectProvider<IdempotencyScopeResolver> resolver) {
		@Nullable IdempotencyScopeResolver own = resolver.getIfAvailable();
		return new WebMvcCallerResolver(settings, own);
	}

	@Bean
	MethodAdapter methodAdapter(IdempotencyEngine engine, ResultCodec codec, WebMvcCallerResolver callers) {
		return new MethodAdapter(engine, codec, new OperationKeyReader(20), HttpRequestValues::current,
				callers::currentOwner);
	}

	@Bean
	InterceptorSettings interceptorSettings() {
		return new InterceptorSettings("Idempotency-Key", Duration.ofSeconds(5));
	}

	@Bean
	IdempotencyOptions options() {
		return IdempotencyOptions.DEFAULTS;
	}

	@Bean
	DefaultStoreFinder stores(ListableBeanFactory beanFactory) {
		return new DefaultStoreFinder(beanFactory);
	}

	@Bean
	IdempotencyEngine engine() {
		return new IdempotencyEngine(10, IdempotencyListener.NONE);
	}

	@Bean
	FaultyStore store() {
		return new FaultyStore(new MemoryIdempotencyStore(10_000_000));
	}

	@Bean
	ResultCodec codec() {
		return new Jackson2ResultCodec();
	}

}
