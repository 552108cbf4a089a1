package io.idempotency.it.docs;

import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import com.stripe.StripeClient;
import com.stripe.exception.StripeException;
import com.stripe.model.Refund;
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

/**
 * The official client of Stripe for Java, which repeats by itself, against guarded
 * endpoints. {@link StripeNodeClientTests} asks the same of the client for Node.
 */
class StripeClientTests {

	private final String key = UUID.randomUUID().toString();

	@Test
	void withoutTheHandlerADuplicateIsRepeatedInVain() {
		try (ConfigurableApplicationContext context = start(Application.class)) {
			rejectTheSecond(context);
			assertThat(context.getBean(Requests.class).count).hasValue(1 + 2);
		}
	}

	@Test
	void withTheHandlerADuplicateIsNotRepeated() {
		try (ConfigurableApplicationContext context = start(Application.class, StripeErrors.class)) {
			rejectTheSecond(context);
			assertThat(context.getBean(Requests.class).count).hasValue(2);
			assertThat(context.getBean(Requests.class).runs).hasValue(1);
		}
	}

	private void rejectTheSecond(ConfigurableApplicationContext context) {
		assertThat(refund(url(context), this.key)).isEqualTo("re_1");
		assertThat(refund(url(context), this.key)).isEqualTo("409");
	}

	@Test
	void withTheHandlerACallThatStillRunsIsRepeatedAndGetsItsAnswer() throws Exception {
		try (ConfigurableApplicationContext context = start(Application.class, StripeErrors.class)) {
			Requests requests = context.getBean(Requests.class);
			CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> cancel(url(context), this.key));
			requests.running.await();
			assertThat(cancel(url(context), this.key)).isEqualTo("re_1").isEqualTo(first.get());
			assertThat(requests.runs).hasValue(1);
			assertThat(requests.count).hasValue(3);
		}
	}

	/**
	 * Makes a refund.
	 * @param url the base of the API
	 * @param key the idempotency key
	 * @return its id, or the status of the error
	 */
	String refund(String url, String key) {
		return call(() -> client(url).refunds().create(RefundCreateParams.builder().build(), options(key)));
	}

	/** Cancels a refund, as {@link #refund}. */
	String cancel(String url, String key) {
		return call(() -> client(url).refunds().cancel("re_1", options(key)));
	}

	private static String call(Callable<Refund> call) {
		try {
			return call.call().getId();
		}
		catch (StripeException ex) {
			return String.valueOf(ex.getStatusCode());
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static RequestOptions options(String key) {
		return RequestOptions.builder().setIdempotencyKey(key).build();
	}

	private static ConfigurableApplicationContext start(Class<?>... components) {
		return new SpringApplicationBuilder(components).properties("server.port=0", "idempotency.store=memory").run();
	}

	private static String url(ConfigurableApplicationContext context) {
		return "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port");
	}

	private static StripeClient client(String url) {
		return StripeClient.builder().setApiKey("sk_test").setApiBase(url).setMaxNetworkRetries(1).build();
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

	/** Counts requests, and lets the first one end when another one was rejected. */
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
