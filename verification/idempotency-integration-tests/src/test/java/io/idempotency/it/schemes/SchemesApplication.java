package io.idempotency.it.schemes;

import io.idempotency.store.IdempotencyStore;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** An application that uses every scheme; its store comes from the tests. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({ TokenController.class, SchemeController.class, RecoveryController.class, SchemeMethods.class,
		RecoveryMethods.class })
class SchemesApplication {

	@Bean
	Effects effects() {
		return new Effects();
	}

	@Bean
	static BeanPostProcessor countRoundTrips() {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof IdempotencyStore store) ? new CountingStore(store) : bean;
			}

		};
	}

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.httpBasic(Customizer.withDefaults())
			.build();
	}

	@Bean
	UserDetailsService users() {
		return new InMemoryUserDetailsManager(
				User.withUsername("alice").password("{noop}demo").roles("CUSTOMER").build(),
				User.withUsername("bob").password("{noop}demo").roles("CUSTOMER").build());
	}

}
