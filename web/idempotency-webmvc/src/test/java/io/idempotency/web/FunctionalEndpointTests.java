package io.idempotency.web;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;

/** A guarded bean behind a functional endpoint, as the documentation has it. */
class FunctionalEndpointTests {

	@Test
	void beanBehindAFunctionalEndpointIsGuarded() throws Exception {
		WebApplicationContext context = WebMvcAdapterSetup.start(Routes.class);
		try {
			MockMvc client = WebMvcAdapterSetup.client(context);
			assertThat(send(client, post("10").header("Idempotency-Key", "k1"))).isEqualTo("paid 10 in run 1");
			assertThat(send(client, post("10").header("Idempotency-Key", "k1"))).isEqualTo("paid 10 in run 1");
			assertThat(send(client, post("20").header("Idempotency-Key", "k1"))).contains("\"code\":\"key-reused\"",
					"\"retry\":\"new-key\"");
			assertThat(send(client, post("10"))).contains("\"code\":\"key-missing\"");
			assertThat(send(client, post("10").header("Idempotency-Key", "k1").principal(() -> "alice")))
				.isEqualTo("paid 10 in run 2");
		}
		finally {
			((ConfigurableApplicationContext) context).close();
		}
	}

	private static MockHttpServletRequestBuilder post(String amount) {
		return MockMvcRequestBuilders.post("/payments").contentType("text/plain").content(amount);
	}

	private static String send(MockMvc client, MockHttpServletRequestBuilder request) throws Exception {
		return client.perform(request).andReturn().getResponse().getContentAsString();
	}

	@Configuration(proxyBeanMethods = false)
	@Import(Payments.class)
	static class Routes {

		@Bean
		RouterFunction<ServerResponse> routes(Payments payments) {
			return RouterFunctions.route()
				.POST("/payments",
						(request) -> ServerResponse.ok()
							.body(payments.pay(request.headers().firstHeader("Idempotency-Key"),
									request.body(String.class))))
				.build();
		}

	}

	static class Payments {

		private final AtomicInteger runs = new AtomicInteger();

		@Idempotent(key = "#key", scope = "principal?.name ?: 'anonymous'", fingerprint = "#amount")
		public String pay(@Nullable String key, String amount) {
			return "paid " + amount + " in run " + this.runs.incrementAndGet();
		}

	}

}
