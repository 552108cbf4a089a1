package io.idempotency.it.early;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyGuardConfiguration;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.Rights;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdviceAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Parts of Spring MVC that an application replaces or adds may check the rights of a
 * caller before its handler is called.
 */
class EarlyReplayWithCustomPartsTests {

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@CsvSource({ "resolver-before-springs,/body", "adapter,/body", "entity-resolver,/entity", "child,/child/body" })
	void rejectsDuplicateWhenCustomPartRejectsCaller(String part, String path) {
		try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
			.registerShutdownHook(false)
			.run("--server.port=0", "--idempotency.store=memory", "--part=" + part)) {
			Rights rights = application.getBean(Rights.class);
			Client client = new Client(
					application.getEnvironment().getRequiredProperty("local.server.port", int.class));
			rights.give(true);
			Answer first = client.post(path, this.key, "text/plain", "one");
			assertThat(first.status()).as("first %s", first).isEqualTo(200);
			rights.give(false);
			Answer denied = client.post(path, this.key, "text/plain", "one");
			assertThat(denied.status()).as("denied %s", denied).isEqualTo(403);
			assertThat(denied.replayed()).isFalse();
			rights.give(true);
			assertThat(client.post(path, this.key, "text/plain", "one").replayed()).isTrue();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Handlers.class, Rights.class })
	static class Application {

		@Bean
		SecurityFilterChain security(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable()).build();
		}

		@Bean
		@ConditionalOnProperty(name = "part", havingValue = "resolver-before-springs")
		static BeanPostProcessor resolverBeforeSprings() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String name) {
					if (bean instanceof RequestMappingHandlerAdapter adapter) {
						List<HandlerMethodArgumentResolver> resolvers = new ArrayList<>(adapter.getArgumentResolvers());
						resolvers.add(0, new CheckingResolver(new Rights(), String.class));
						adapter.setArgumentResolvers(resolvers);
					}
					return bean;
				}

			};
		}

		@Bean
		@ConditionalOnProperty(name = "part", havingValue = "adapter")
		CheckingAdapter checkingAdapter(Rights rights) {
			return new CheckingAdapter(rights);
		}

		@Bean
		@ConditionalOnProperty(name = "part", havingValue = "entity-resolver")
		WebMvcConfigurer entityResolver(Rights rights) {
			return new WebMvcConfigurer() {

				@Override
				public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
					resolvers.add(new CheckingResolver(rights, Signed.class));
				}

			};
		}

		@Bean
		@ConditionalOnProperty(name = "part", havingValue = "child")
		ServletRegistrationBean<DispatcherServlet> child() {
			AnnotationConfigWebApplicationContext context = new AnnotationConfigWebApplicationContext();
			context.register(Child.class);
			ServletRegistrationBean<DispatcherServlet> registration = new ServletRegistrationBean<>(
					new DispatcherServlet(context), "/child/*");
			registration.setName("child");
			return registration;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebMvc
	@Import({ IdempotencyGuardConfiguration.class, Handlers.class, CheckingAdvice.class })
	static class Child {

	}

	@RestController
	static class Handlers {

		@Idempotent
		@PostMapping("/body")
		public String read(@RequestBody String body) {
			return "read " + body;
		}

		@Idempotent
		@PostMapping("/entity")
		public String read(Signed entity) {
			return "read " + entity.getBody();
		}

	}

	/** An entity whose signature was verified. */
	static class Signed extends HttpEntity<String> {

		Signed(String body) {
			super(body);
		}

	}

	static class CheckingResolver implements HandlerMethodArgumentResolver {

		private final Rights rights;

		private final Class<?> type;

		CheckingResolver(Rights rights, Class<?> type) {
			this.rights = rights;
			this.type = type;
		}

		@Override
		public boolean supportsParameter(MethodParameter parameter) {
			return parameter.getParameterType() == this.type;
		}

		@Override
		public Object resolveArgument(MethodParameter parameter, ModelAndViewContainer container,
				NativeWebRequest request, WebDataBinderFactory binders) throws IOException {
			this.rights.require();
			try (InputStream body = request.getNativeRequest(HttpServletRequest.class).getInputStream()) {
				String text = new String(body.readAllBytes());
				return (this.type == String.class) ? text : new Signed(text);
			}
		}

	}

	static class CheckingAdapter extends RequestMappingHandlerAdapter {

		private final Rights rights;

		CheckingAdapter(Rights rights) {
			this.rights = rights;
			setOrder(Ordered.LOWEST_PRECEDENCE - 10);
		}

		@Override
		protected ModelAndView handleInternal(HttpServletRequest request, HttpServletResponse response,
				HandlerMethod handler) throws Exception {
			this.rights.require();
			return super.handleInternal(request, response, handler);
		}

	}

	@RestControllerAdvice
	static class CheckingAdvice extends RequestBodyAdviceAdapter {

		private final Rights rights;

		CheckingAdvice(Rights rights) {
			this.rights = rights;
		}

		@Override
		public boolean supports(MethodParameter parameter, Type type,
				Class<? extends HttpMessageConverter<?>> converter) {
			return true;
		}

		@Override
		public HttpInputMessage beforeBodyRead(HttpInputMessage message, MethodParameter parameter, Type type,
				Class<? extends HttpMessageConverter<?>> converter) {
			this.rights.require();
			return message;
		}

	}

}
