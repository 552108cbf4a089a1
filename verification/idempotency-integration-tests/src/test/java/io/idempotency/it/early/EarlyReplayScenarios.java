package io.idempotency.it.early;

import java.util.UUID;

import io.idempotency.it.WithMockMvc;
import io.idempotency.it.early.EarlyApplication.Body;
import io.idempotency.it.early.EarlyApplication.Rights;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

/**
 * A duplicate costs no binding where nothing but the guard protects the handler; where
 * anything else might refuse the caller, it refuses the duplicate, too.
 */
@SpringBootTest(classes = EarlyApplication.class)
@WithMockMvc
abstract class EarlyReplayScenarios {

	@Autowired
	MockMvc mvc;

	@Autowired
	Rights rights;

	private final String key = UUID.randomUUID().toString();

	@BeforeEach
	void giveRights() {
		this.rights.given.set(true);
	}

	final MockHttpServletResponse send(String path, String body) throws Exception {
		return this.mvc.perform(
				post(path).header("Idempotency-Key", this.key).contentType(MediaType.APPLICATION_JSON).content(body))
			.andReturn()
			.getResponse();
	}

	final MockHttpServletResponse send(String path) throws Exception {
		return send(path, "{\"text\":\"one\"}");
	}

	static boolean replayed(MockHttpServletResponse response) {
		return "true".equals(response.getHeader("Idempotent-Replayed"));
	}

	@Test
	void bodyOfADuplicateIsNotParsed() throws Exception {
		MockHttpServletResponse first = send("/early/plain");
		int parsed = Body.parsed();
		MockHttpServletResponse second = send("/early/plain");
		assertThat(second.getStatus()).isEqualTo(200);
		assertThat(second.getContentAsString()).isEqualTo(first.getContentAsString());
		assertThat(replayed(first)).isFalse();
		assertThat(replayed(second)).isTrue();
		assertThat(Body.parsed()).isEqualTo(parsed);
	}

	@Test
	void anotherBodyIsRefusedAsEver() throws Exception {
		send("/early/plain");
		assertThat(send("/early/plain", "{\"text\":\"two\"}").getStatus()).isEqualTo(422);
		assertThat(replayed(send("/early/plain"))).isTrue();
	}

	@Test
	void duplicateThatIsNotComparedIsReplayed() throws Exception {
		send("/early/not-compared");
		assertThat(replayed(send("/early/not-compared", "anything"))).isTrue();
	}

	@Test
	void malformedKeyIsRefusedAsEver() throws Exception {
		MockHttpServletResponse response = this.mvc
			.perform(post("/early/plain").header("Idempotency-Key", "a", "b")
				.contentType(MediaType.APPLICATION_JSON)
				.content("{\"text\":\"one\"}"))
			.andReturn()
			.getResponse();
		assertThat(response.getStatus()).isEqualTo(400);
		assertThat(response.getContentAsString()).contains("key-invalid");
	}

	@ParameterizedTest
	@ValueSource(strings = { "intercepted", "aspect", "method-security", "resolver", "model", "body-advice" })
	void callerWhoHasLostItsRightsSeesNoReplay(String where) throws Exception {
		MockHttpServletResponse first = send("/early/" + where);
		assertThat(first.getStatus()).isEqualTo(200);
		this.rights.given.set(false);
		MockHttpServletResponse denied = send("/early/" + where);
		assertThat(denied.getStatus()).isEqualTo(403);
		assertThat(denied.getContentAsString()).doesNotContain(first.getContentAsString());
		assertThat(replayed(denied)).isFalse();
		this.rights.given.set(true);
		MockHttpServletResponse second = send("/early/" + where);
		assertThat(replayed(second)).isTrue();
		assertThat(second.getContentAsString()).isEqualTo(first.getContentAsString());
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '|', value = { "validated,{\"text\":\"one\"}", "validated-elements,[\"one\"]" })
	void validatorOfTheApplicationSeesADuplicate(String path, String body) throws Exception {
		assertThat(send("/early/" + path, body).getStatus()).isEqualTo(200);
		this.rights.given.set(false);
		assertThat(send("/early/" + path, body).getStatus()).isEqualTo(400);
		this.rights.given.set(true);
		assertThat(replayed(send("/early/" + path, body))).isTrue();
	}

	@Test
	void callThatIsNotGuardedAnyMoreRuns() throws Exception {
		MockHttpServletResponse first = send("/early/condition");
		this.rights.given.set(false);
		MockHttpServletResponse second = send("/early/condition");
		assertThat(replayed(second)).isFalse();
		assertThat(second.getContentAsString()).isNotEqualTo(first.getContentAsString());
	}

}
