package io.idempotency.samples.reactive;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.context.NoOpServerSecurityContextRepository;

/**
 * Permits all requests, and authenticates two customers by HTTP Basic: keys belong to the
 * caller, so the demonstration needs several callers. Only the operator can read records.
 */
@Configuration(proxyBeanMethods = false)
class SecurityConfiguration {

	private static final String CONTENT_SECURITY_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; "
			+ "frame-ancestors 'none'; img-src 'self' data:; object-src 'none'";

	@Bean
	SecurityWebFilterChain shopSecurity(ServerHttpSecurity http) {
		return http
			.authorizeExchange((exchanges) -> exchanges.pathMatchers("/actuator/idempotency/**")
				.hasRole("OPERATOR")
				.anyExchange()
				.permitAll())
			.httpBasic(Customizer.withDefaults())
			.securityContextRepository(NoOpServerSecurityContextRepository.getInstance())
			// Callers are not identified by a cookie, so other sites cannot send calls on
			// their behalf.
			.csrf(ServerHttpSecurity.CsrfSpec::disable)
			.headers((headers) -> headers
				.contentSecurityPolicy((policy) -> policy.policyDirectives(CONTENT_SECURITY_POLICY)))
			.build();
	}

	@Bean
	MapReactiveUserDetailsService users() {
		return new MapReactiveUserDetailsService(user("alice", "CUSTOMER"), user("bob", "CUSTOMER"),
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
