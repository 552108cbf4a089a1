package io.idempotency.proofs.fuzz;

import java.time.Clock;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.firewall.HttpFirewall;
import org.springframework.security.web.firewall.StrictHttpFirewall;

/** Handlers that say what they received, each with a guard and without. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({ GuardedEchoes.class, PlainEchoes.class, Echo.class })
class FuzzApplication {

	@Bean
	LedgerStore ledgerStore() {
		return new LedgerStore(Clock.systemUTC());
	}

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.sessionManagement((session) -> session.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
			.requestCache((cache) -> cache.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.httpBasic(Customizer.withDefaults())
			.build();
	}

	@Bean
	UserDetailsService users() {
		return new InMemoryUserDetailsManager(User.withUsername("alice").password("demo").build(),
				User.withUsername("bob").password("demo").build());
	}

	/** A slow one would only slow the run down. */
	@Bean
	PasswordEncoder passwords() {
		return new PasswordEncoder() {

			@Override
			public String encode(CharSequence password) {
				return password.toString();
			}

			@Override
			public boolean matches(CharSequence password, String encoded) {
				return encoded.contentEquals(password);
			}

		};
	}

	/** Lets through what it can, so that it reaches the guard. */
	@Bean
	HttpFirewall firewall() {
		StrictHttpFirewall firewall = new StrictHttpFirewall();
		firewall.setUnsafeAllowAnyHttpMethod(true);
		firewall.setAllowSemicolon(true);
		firewall.setAllowUrlEncodedPercent(true);
		firewall.setAllowUrlEncodedSlash(true);
		firewall.setAllowUrlEncodedDoubleSlash(true);
		firewall.setAllowBackSlash(true);
		firewall.setAllowUrlEncodedPeriod(true);
		firewall.setAllowNull(true);
		firewall.setAllowUrlEncodedCarriageReturn(true);
		firewall.setAllowUrlEncodedLineFeed(true);
		firewall.setAllowUrlEncodedParagraphSeparator(true);
		firewall.setAllowUrlEncodedLineSeparator(true);
		firewall.setAllowedHeaderNames((name) -> true);
		firewall.setAllowedHeaderValues((value) -> true);
		firewall.setAllowedParameterNames((name) -> true);
		firewall.setAllowedParameterValues((value) -> true);
		return firewall;
	}

}
