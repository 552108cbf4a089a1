package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.CsrfTokenRequestAttributeHandler;
import org.springframework.web.filter.HiddenHttpMethodFilter;

/** An application as a user would write it, with everything a real one has around it. */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableMethodSecurity
@Import({ AnswersController.class, AsyncController.class, FailuresController.class, KeysController.class,
		RequestsController.class, ReadingController.class, TwinsController.class, CallersController.class,
		DispatchesController.class, ValidatedController.class, UncomparedController.class, UnguardedController.class,
		ErrorAnswers.class, Bookings.class, Routes.class })
class HttpApplication {

	@Bean
	Runs runs() {
		return new Runs();
	}

	/** Comes after the filter of the library. */
	@Bean
	FilterRegistrationBean<HiddenHttpMethodFilter> hiddenMethods() {
		FilterRegistrationBean<HiddenHttpMethodFilter> filter = new FilterRegistrationBean<>(
				new HiddenHttpMethodFilter());
		filter.addUrlPatterns("/unguarded/hidden");
		filter.setOrder(100);
		return filter;
	}

	/**
	 * Without headers: Security writes them when a worker commits the answer and when the
	 * container's thread leaves its filter, and the two may break the container's headers
	 * if they meet.
	 */
	@Bean
	@Order(1)
	SecurityFilterChain answeredByWorkers(HttpSecurity http) throws Exception {
		return http.securityMatcher("/twins/**", "/async/**")
			.csrf((csrf) -> csrf.disable())
			.headers((headers) -> headers.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
	}

	@Bean
	@Order(1)
	SecurityFilterChain againstForgery(HttpSecurity http) throws Exception {
		return http.securityMatcher("/csrf/**")
			.csrf((csrf) -> csrf.csrfTokenRepository(CookieCsrfTokenRepository.withHttpOnlyFalse())
				.csrfTokenRequestHandler(new CsrfTokenRequestAttributeHandler()))
			.build();
	}

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.requestMatchers(HttpMethod.POST, "/private/**")
				.authenticated()
				.anyRequest()
				.permitAll())
			.httpBasic(Customizer.withDefaults())
			.build();
	}

	@Bean
	UserDetailsService users() {
		return new InMemoryUserDetailsManager(
				User.withUsername("alice").password("{noop}demo").roles("CUSTOMER", "CLERK").build(),
				User.withUsername("bob").password("{noop}demo").roles("CUSTOMER").build());
	}

}
