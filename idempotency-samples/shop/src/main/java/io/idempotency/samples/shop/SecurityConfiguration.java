package io.idempotency.samples.shop;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;

/**
 * Permits all requests, and authenticates two customers by HTTP Basic: keys belong to the
 * caller, so the demonstration needs several callers. Only the operator can read records.
 */
@Configuration(proxyBeanMethods = false)
class SecurityConfiguration {

	private static final String CONTENT_SECURITY_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; "
			+ "frame-ancestors 'none'; img-src 'self' data:; object-src 'none'";

	@Bean
	SecurityFilterChain shopSecurity(HttpSecurity http) throws Exception {
		return http
			.authorizeHttpRequests((requests) -> requests.requestMatchers("/actuator/idempotency/**")
				.hasRole("OPERATOR")
				.anyRequest()
				.permitAll())
			.httpBasic(Customizer.withDefaults())
			.sessionManagement((sessions) -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
			// A cookie, because the shop has no session. Only the form at /checkout needs
			// the token.
			.csrf((csrf) -> csrf.csrfTokenRepository(new CookieCsrfTokenRepository())
				.ignoringRequestMatchers("/api/**", "/idempotency/**", "/actuator/**"))
			.headers((headers) -> headers
				.contentSecurityPolicy((policy) -> policy.policyDirectives(CONTENT_SECURITY_POLICY)))
			.build();
	}

	@Bean
	UserDetailsService users() {
		return new InMemoryUserDetailsManager(user("alice", "CUSTOMER"), user("bob", "CUSTOMER"),
				user("operator", "OPERATOR"));
	}

	/**
	 * A demonstration: the password is public and in plain text. A real shop keeps
	 * hashes.
	 */
	private static UserDetails user(String name, String role) {
		return User.withUsername(name).password("{noop}demo").roles(role).build();
	}

}
