package io.idempotency.it.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.result.MockMvcResultMatchers;
import org.springframework.test.web.servlet.setup.DefaultMockMvcBuilder;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** The handler of the documentation that answers in the form of Stripe. */
@SpringBootTest(classes = StripeErrorsTests.Application.class, properties = "idempotency.store=memory")
class StripeErrorsTests {

	@Autowired
	WebApplicationContext context;

	@Test
	void handlerOfThePageIsTheOneThatIsTested() throws IOException {
		String tested = Files
			.readString(Path.of("src/test/java", StripeErrors.class.getName().replace('.', '/') + ".java"));
		assertThat(Page.of("docs/error-codes.md").text())
			.contains(tested.substring(tested.indexOf("@RestControllerAdvice\n")));
	}

	@Test
	void reusedKeyIsAnIdempotencyErrorThatIsNotRepeated() throws Exception {
		MockMvc client = client();
		client.perform(MockMvcRequestBuilders.post("/charges").header("Idempotency-Key", "k1").content("10"))
			.andExpect(MockMvcResultMatchers.status().isOk());
		client.perform(MockMvcRequestBuilders.post("/charges").header("Idempotency-Key", "k1").content("20"))
			.andExpect(MockMvcResultMatchers.status().isBadRequest())
			.andExpect(MockMvcResultMatchers.content().contentTypeCompatibleWith(MediaType.APPLICATION_JSON))
			.andExpect(MockMvcResultMatchers.header().string("Stripe-Should-Retry", "false"))
			.andExpect(MockMvcResultMatchers.jsonPath("$.error.type").value("idempotency_error"))
			.andExpect(MockMvcResultMatchers.jsonPath("$.error.code").value("key-reused"));
	}

	@ParameterizedTest
	@MethodSource("rejections")
	void eachRejectionSaysWhetherItIsRepeatedAndWhen(IdempotencyException rejection, String again, String pause) {
		HttpHeaders headers = new StripeErrors().rejected(rejection).getHeaders();
		assertThat(headers.getFirst("Stripe-Should-Retry")).isEqualTo(again);
		assertThat(headers.getFirst("X-Should-Retry")).isEqualTo(again);
		assertThat(headers.getFirst("Retry-After")).isEqualTo(pause);
	}

	static Stream<Arguments> rejections() {
		return Stream.of(arguments(new IdempotencyInProgressException("pay", Duration.ofMillis(1_500)), "true", "2"),
				arguments(IdempotencyStoreUnavailableException.overloaded("pay", Duration.ofNanos(1)), "true", "1"),
				arguments(new IdempotencyDuplicateException("pay", 2), "false", null),
				arguments(new IdempotencyResultUnavailableException("pay"), "false", null),
				arguments(new IdempotencyOutcomeUnknownException("pay"), "false", null),
				arguments(new IdempotencyKeyReusedException("pay"), "false", null),
				arguments(new IdempotencyKeyMissingException("pay", "No key"), "false", null));
	}

	@Test
	void duplicateIsNotRepeated() throws Exception {
		MockMvc client = client();
		client.perform(MockMvcRequestBuilders.post("/once").header("Idempotency-Key", "k1"))
			.andExpect(MockMvcResultMatchers.status().isOk());
		client.perform(MockMvcRequestBuilders.post("/once").header("Idempotency-Key", "k1"))
			.andExpect(MockMvcResultMatchers.status().isConflict())
			.andExpect(MockMvcResultMatchers.header().string("Stripe-Should-Retry", "false"))
			.andExpect(MockMvcResultMatchers.jsonPath("$.error.type").value("invalid_request_error"));
	}

	private MockMvc client() {
		DefaultMockMvcBuilder builder = MockMvcBuilders.webAppContextSetup(this.context);
		this.context.getBeansOfType(FilterRegistrationBean.class)
			.values()
			.forEach((registration) -> builder.addFilters(registration.getFilter()));
		return builder.build();
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@Import({ StripeErrors.class, Charges.class })
	static class Application {

		@Bean
		SecurityFilterChain open(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

	}

	@RestController
	static class Charges {

		@PostMapping("/charges")
		@Idempotent
		public String charge(@RequestBody String amount) {
			return "charged " + amount;
		}

		@PostMapping("/once")
		@Idempotent(mode = IdempotencyMode.REJECT)
		public String once() {
			return "once";
		}

	}

}
