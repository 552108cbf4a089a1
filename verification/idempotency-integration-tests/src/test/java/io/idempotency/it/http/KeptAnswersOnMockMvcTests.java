package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.idempotency.it.WithMockMvc;
import io.idempotency.it.client.Answer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.asyncDispatch;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

@SpringBootTest(classes = HttpApplication.class)
@WithMockMvc
class KeptAnswersOnMockMvcTests {

	@Autowired
	MockMvc mvc;

	@Autowired
	Runs runs;

	@ParameterizedTest
	@EnumSource
	void replayIsTheFirstAnswer(KeptAnswers scenario) throws Exception {
		String key = UUID.randomUUID().toString();
		int before = this.runs.of(scenario.path);
		Answer first = send(scenario.path, key);
		Answer second = send(scenario.path, key);
		assertThat(first.status()).as("first %s", first).isEqualTo(scenario.status);
		assertThat(first.replayed()).isFalse();
		assertThat(second.status()).as("second %s", second).isEqualTo(first.status());
		assertThat(second.replayed()).as("second %s", second).isTrue();
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.comparableHeaders()).isEqualTo(first.comparableHeaders());
		assertThat(this.runs.of(scenario.path) - before).as("runs").isEqualTo(1);
	}

	private Answer send(String path, String key) throws Exception {
		MvcResult result = this.mvc.perform(post(path).header("Idempotency-Key", key)).andReturn();
		while (result.getRequest().isAsyncStarted()) {
			result = this.mvc.perform(asyncDispatch(result)).andReturn();
		}
		MockHttpServletResponse response = result.getResponse();
		Map<String, List<String>> headers = new HashMap<>();
		response.getHeaderNames().forEach((name) -> headers.put(name, response.getHeaders(name)));
		return new Answer(response.getStatus(), headers, response.getContentAsByteArray());
	}

}
