package io.idempotency.it.early;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

import io.idempotency.it.WithMockMvc;
import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.EarlyReplayScenarios;
import io.idempotency.it.scenarios.Rights;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

/** The scenarios on Spring MVC. */
@SpringBootTest(classes = EarlyApplication.class)
@WithMockMvc
abstract class EarlyReplayContract implements EarlyReplayScenarios {

	@Autowired
	MockMvc mvc;

	@Autowired
	Rights rights;

	private final String key = UUID.randomUUID().toString();

	@Override
	public final Rights rights() {
		return this.rights;
	}

	@Override
	public final Map<String, Integer> rejected() {
		return Map.of("intercepted", 403, "aspect", 403, "method-security", 403, "resolver", 403, "model", 403,
				"body-advice", 403);
	}

	@Override
	public final Answer send(String path, String body) throws Exception {
		return send(path, body, this.key);
	}

	private Answer send(String path, String body, Object... keys) throws Exception {
		return answer(this.mvc
			.perform(post(path).header("Idempotency-Key", keys).contentType(MediaType.APPLICATION_JSON).content(body))
			.andReturn()
			.getResponse());
	}

	static Answer answer(MockHttpServletResponse response) {
		Map<String, List<String>> headers = new TreeMap<>();
		response.getHeaderNames().forEach((name) -> headers.put(name, response.getHeaders(name)));
		return new Answer(response.getStatus(), headers, response.getContentAsByteArray());
	}

	@Test
	void bodyOfADuplicateIsNotParsed() throws Exception {
		for (String path : plain()) {
			Answer first = send("/early/" + path);
			int parsed = Rights.Body.parsed();
			Answer second = send("/early/" + path);
			assertThat(second.status()).as(path).isEqualTo(200);
			assertThat(second.text()).isEqualTo(first.text());
			assertThat(first.replayed()).isFalse();
			assertThat(second.replayed()).isTrue();
			assertThat(Rights.Body.parsed()).isEqualTo(parsed);
		}
	}

	@Test
	void malformedKeyIsRejectedAsEver() throws Exception {
		Answer answer = send("/early/plain", "{\"text\":\"one\"}", "a", "b");
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.text()).contains("key-invalid");
	}

}
