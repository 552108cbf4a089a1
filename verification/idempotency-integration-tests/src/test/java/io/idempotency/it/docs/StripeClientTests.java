package io.idempotency.it.docs;

import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import com.stripe.StripeClient;
import com.stripe.exception.StripeException;
import com.stripe.net.RequestOptions;
import com.stripe.param.RefundCreateParams;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The official client of Stripe, which repeats by itself, against guarded endpoints. */
class StripeClientTests {

	private final String key = UUID.randomUUID().toString();

	@Test
	void withoutTheHandlerADuplicateIsRepeatedInVain() throws StripeException {
		try (ConfigurableApplicationContext context = start(Application.class)) {
			refuseTheSecond(context);
			assertThat(context.getBean(Requests.class).count).hasValue(1 + 2);
		}
	}

	@Test
	void withTheHandlerADuplicateIsNotRepeated() throws StripeException {
		try (ConfigurableApplicationContext context = start(Application.class, StripeErrors.class)) {
			refuseTheSecond(context);
			assertThat(context.getBean(Requests.class).count).hasValue(2);
			assertThat(context.getBean(Requests.class).runs).hasValue(1);
		}
	}

	private void refuseTheSecond(ConfigurableApplicationContext context) throws StripeException {
		StripeClient client = client(context);
		client.refunds().create(RefundCreateParams.builder().build(), options());
		assertThatExceptionOfType(StripeException.class)
			.isThrownBy(() -> client.refunds().create(RefundCreateParams.builder().build(), options()))
			.satisfies((ex) -> assertThat(ex.getStatusCode()).isEqualTo(409));
	}

	@Test
	void withTheHandlerACallThatStillRunsIsRepeatedAndGetsItsAnswer() throws Exception {
		try (ConfigurableApplicationContext context = start(Application.class, StripeErrors.class)) {
			Requests requests = context.getBean(Requests.class);
			StripeClient client = client(context);
			CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> cancel(client));
			requests.running.await();
			assertThat(cancel(client)).isEqualTo("re_1").isEqualTo(first.get());
			assertThat(requests.runs).hasValue(1);
			assertThat(requests.count).hasValue(3);
		}
	}

	private String cancel(StripeClient client) {
		try {
			return client.refunds().cancel("re_1", options()).getId();
		}
		catch (StripeException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private RequestOptions options() {
		return RequestOptions.builder().setIdempotencyKey(this.key).build();
	}

	private static ConfigurableApplicationContext start(Class<?>... components) {
		return new SpringApplicationBuilder(components).properties("server.port=0", "idempotency.store=memory").run();
	}

	private static StripeClient client(ConfigurableApplicationContext context) {
		return StripeClient.builder()
			.setApiKey("sk_test")
			.setApiBase("http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port"))
			.setMaxNetworkRetries(1)
			.build();
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@Import({ Refunds.class, Requests.class })
	static class Application {

		@Bean
		SecurityFilterChain open(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

	}

	/** Counts requests, and lets the first one end when another one was refused. */
	static class Requests extends OncePerRequestFilter {

		final AtomicInteger count = new AtomicInteger();

		final AtomicInteger runs = new AtomicInteger();

		final CountDownLatch running = new CountDownLatch(1);

		private final CountDownLatch mayEnd = new CountDownLatch(1);

		String run() {
			return "{\"object\":\"refund\",\"id\":\"re_" + this.runs.incrementAndGet() + "\"}";
		}

		String runSlowly() throws InterruptedException {
			this.running.countDown();
			this.mayEnd.await();
			return run();
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			this.count.incrementAndGet();
			chain.doFilter(request, response);
			if (response.getStatus() == 409) {
				this.mayEnd.countDown();
			}
		}

	}

	@RestController
	static class Refunds {

		private final Requests requests;

		Refunds(Requests requests) {
			this.requests = requests;
		}

		@PostMapping(path = "/v1/refunds", produces = MediaType.APPLICATION_JSON_VALUE)
		@Idempotent(mode = IdempotencyMode.REJECT)
		public String refund() {
			return this.requests.run();
		}

		@PostMapping(path = "/v1/refunds/{id}/cancel", produces = MediaType.APPLICATION_JSON_VALUE)
		@Idempotent
		public String cancel() throws InterruptedException {
			return this.requests.runSlowly();
		}

	}

}
