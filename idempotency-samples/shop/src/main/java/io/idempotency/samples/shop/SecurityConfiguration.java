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
 * Lets everybody in, and knows two customers by HTTP Basic: keys belong to the caller, so
 * the demonstration needs more than one.
 */
@Configuration(proxyBeanMethods = false)
class SecurityConfiguration {

	private static final String CONTENT_SECURITY_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; "
			+ "frame-ancestors 'none'; img-src 'self' data:; object-src 'none'";

	@Bean
	SecurityFilterChain shopSecurity(HttpSecurity http) throws Exception {
		return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.httpBasic(Customizer.withDefaults())
			.sessionManagement((sessions) -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
			// A cookie, since there is no session: only the form at /checkout needs it.
			.csrf((csrf) -> csrf.csrfTokenRepository(new CookieCsrfTokenRepository())
				.ignoringRequestMatchers("/api/**", "/idempotency/**"))
			.headers((headers) -> headers
				.contentSecurityPolicy((policy) -> policy.policyDirectives(CONTENT_SECURITY_POLICY)))
			.build();
	}

	@Bean
	UserDetailsService customers() {
		return new InMemoryUserDetailsManager(customer("alice"), customer("bob"));
	}

	/**
	 * A demonstration: the password is public and in plain text. A real shop keeps
	 * hashes.
	 */
	private static UserDetails customer(String name) {
		return User.withUsername(name).password("{noop}demo").roles("CUSTOMER").build();
	}

}
