package io.idempotency.autoconfigure;

import java.net.http.HttpResponse;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityFilterAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.error.ErrorMvcAutoConfiguration;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.context.ServerPortInfoApplicationContextInitializer;
import org.springframework.boot.web.servlet.RegistrationBean;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

import static org.assertj.core.api.Assertions.assertThat;

/** Whose key it is, and that nobody passes security by a replay. */
class SecuredRequestsTests {

	private static final String ORDER = "{\"sku\":\"book\"}";

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner(
			AnnotationConfigServletWebServerApplicationContext::new)
		.withConfiguration(AutoConfigurations.of(ServletWebServerFactoryAutoConfiguration.class,
				DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class,
				HttpMessageConvertersAutoConfiguration.class, JacksonAutoConfiguration.class,
				ErrorMvcAutoConfiguration.class, SecurityAutoConfiguration.class, SecurityFilterAutoConfiguration.class,
				IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class))
		.withInitializer(new ServerPortInfoApplicationContextInitializer())
		.withPropertyValues("server.port=0")
		.withUserConfiguration(Security.class)
		.withBean(RecordingStore.class)
		.withBean(OrderController.class);

	@Test
	void filterBeforeSpringSecurityFailsTheStart() {
		this.runner.withPropertyValues("idempotency.http.filter-order=-100")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidConfigurationPropertyValueException.class)
				.hasMessageContaining("idempotency.http.filter-order")
				.hasMessageContaining("(-100)"));
		this.runner.withPropertyValues("idempotency.http.filter-order=-150", "spring.security.filter.order=-200")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** Nothing runs before or behind a filter that is switched off. */
	@Test
	void filterOfSpringSecurityThatIsSwitchedOffHasNoOrder() {
		this.runner.withPropertyValues("idempotency.http.filter-order=-100")
			.withBean(SwitchedOff.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** Leaves Spring Security to the management port, for example. */
	static final class SwitchedOff implements BeanPostProcessor {

		@Override
		public Object postProcessBeforeInitialization(Object bean, String name) {
			if (name.equals("securityFilterChainRegistration")) {
				((RegistrationBean) bean).setEnabled(false);
			}
			return bean;
		}

	}

	@Test
	void twoCallersNeverShareAKey() {
		this.runner.run((context) -> {
			Browser browser = new Browser(context);
			HttpResponse<String> ann = browser.as("ann").post("/orders", "k1", ORDER);
			HttpResponse<String> bob = browser.as("bob").post("/orders", "k1", ORDER);
			assertThat(ann.body()).contains("\"number\":1");
			assertThat(bob.body()).contains("\"number\":2");
			assertThat(browser.as("ann").post("/orders", "k1", ORDER).body()).isEqualTo(ann.body());
		});
	}

	@Test
	void withTheScopeGlobalAllCallersShareTheirKeys() {
		this.runner.withPropertyValues("idempotency.scope=global").run((context) -> {
			Browser browser = new Browser(context);
			HttpResponse<String> ann = browser.as("ann").post("/orders", "k1", ORDER);
			HttpResponse<String> bob = browser.as("bob").post("/orders", "k1", ORDER);
			assertThat(bob.body()).isEqualTo(ann.body());
		});
	}

	@Test
	void callerWhoIsNotSignedInUsesNoKeyAndSeesNoReplay() {
		this.runner.run((context) -> {
			Browser browser = new Browser(context);
			assertThat(browser.post("/orders", "k1", ORDER).statusCode()).isEqualTo(401);
			assertThat(context.getBean(RecordingStore.class).claims).isEmpty();
			assertThat(browser.as("ann").post("/orders", "k1", ORDER).statusCode()).isEqualTo(201);
			assertThat(browser.as(null).post("/orders", "k1", ORDER).statusCode()).isEqualTo(401);
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class Security {

		@Bean
		SecurityFilterChain securityFilterChain(HttpSecurity http) throws Exception {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.csrf(AbstractHttpConfigurer::disable)
				.build();
		}

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(User.withUsername("ann").password("{noop}secret").build(),
					User.withUsername("bob").password("{noop}secret").build());
		}

	}

}
