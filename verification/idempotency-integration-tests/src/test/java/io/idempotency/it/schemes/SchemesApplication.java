package io.idempotency.it.schemes;

import io.idempotency.IdempotencyTokens;

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
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application that uses every scheme; its store comes from the tests. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({ Schemes.Handlers.class, SchemesApplication.OwnTokens.class })
class SchemesApplication {

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

	/** Tokens that the application issues itself. */
	@RestController
	static class OwnTokens {

		private final IdempotencyTokens tokens;

		OwnTokens(IdempotencyTokens tokens) {
			this.tokens = tokens;
		}

		@PostMapping("/tokens/own")
		String issue() {
			return this.tokens.issue().token();
		}

	}

}
