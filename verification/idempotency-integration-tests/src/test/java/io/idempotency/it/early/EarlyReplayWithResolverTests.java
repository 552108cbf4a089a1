package io.idempotency.it.early;

import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.it.WithMockMvc;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.web.IdempotencyScopeResolver;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/** A resolver may take a round trip itself, so it is asked once for each request. */
@SpringBootTest(classes = EarlyApplication.class, properties = "idempotency.store=redis")
@WithMockMvc
@Requires(Backend.REDIS)
@ContextConfiguration(initializers = RedisServer.OfAnApplication.class)
@Import(EarlyReplayWithResolverTests.Resolving.class)
class EarlyReplayWithResolverTests {

	private static final AtomicInteger ASKED = new AtomicInteger();

	@Autowired
	MockMvc mvc;

	@Test
	void resolverIsAskedOnceForEachRequest() throws Exception {
		String key = UUID.randomUUID().toString();
		for (int asked = 1; asked <= 3; asked++) {
			MockHttpServletResponse response = this.mvc
				.perform(post("/early/plain").header("Idempotency-Key", key)
					.contentType(MediaType.APPLICATION_JSON)
					.content("{\"text\":\"one\"}"))
				.andReturn()
				.getResponse();
			assertThat(response.getContentAsString()).isEqualTo("run 1");
			assertThat(EarlyReplayContract.answer(response).replayed()).isEqualTo(asked > 1);
			assertThat(ASKED).hasValue(asked);
		}
	}

	/**
	 * It is asked before the handler is called, and its rejection is an answer all the
	 * same.
	 */
	@Test
	void whatAResolverThrowsIsTheAnswer() throws Exception {
		int asked = ASKED.get();
		this.mvc
			.perform(post("/early/plain").header("Idempotency-Key", UUID.randomUUID().toString())
				.header("X-Stranger", "yes")
				.contentType(MediaType.APPLICATION_JSON)
				.content("{\"text\":\"one\"}"))
			.andExpect(status().isUnauthorized());
		assertThat(ASKED).hasValue(asked);
	}

	@TestConfiguration
	static class Resolving {

		@Bean
		IdempotencyScopeResolver resolver() {
			return (request) -> {
				if (request.getHeader("X-Stranger") != null) {
					throw new ResponseStatusException(HttpStatus.UNAUTHORIZED);
				}
				return "tenant " + Math.min(ASKED.incrementAndGet(), 1);
			};
		}

	}

}
