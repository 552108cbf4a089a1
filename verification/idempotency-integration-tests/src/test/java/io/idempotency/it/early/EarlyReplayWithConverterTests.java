package io.idempotency.it.early;

import java.io.IOException;
import java.util.List;
import java.util.UUID;

import io.idempotency.Idempotent;
import io.idempotency.it.WithMockMvc;
import io.idempotency.it.scenarios.Rights;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.StringHttpMessageConverter;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

/** A converter of the application may verify a body, whichever handler it is for. */
@SpringBootTest(classes = EarlyApplication.class, properties = "idempotency.store=memory")
@WithMockMvc
@Import(EarlyReplayWithConverterTests.Signed.class)
class EarlyReplayWithConverterTests {

	@Autowired
	MockMvc mvc;

	@Autowired
	Rights rights;

	private final String key = UUID.randomUUID().toString();

	private MockHttpServletResponse send(String path) throws Exception {
		return this.mvc
			.perform(post(path).header("Idempotency-Key", this.key)
				.contentType("application/signed")
				.accept(MediaType.TEXT_PLAIN)
				.content("one"))
			.andReturn()
			.getResponse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/signed/body", "/signed/entity" })
	void callerWhoHasLostItsRightsSeesNoReplay(String path) throws Exception {
		this.rights.give(true);
		MockHttpServletResponse first = send(path);
		assertThat(first.getStatus()).isEqualTo(200);
		this.rights.give(false);
		MockHttpServletResponse denied = send(path);
		assertThat(denied.getStatus()).isEqualTo(403);
		assertThat(denied.getContentAsString()).doesNotContain(first.getContentAsString());
		this.rights.give(true);
		assertThat(EarlyReplayContract.answer(send(path)).replayed()).isTrue();
	}

	@Test
	void handlerWithoutABodyIsReplayedAsEver() throws Exception {
		MockHttpServletResponse first = send("/signed/no-body?text=one");
		assertThat(first.getStatus()).isEqualTo(200);
		assertThat(EarlyReplayContract.answer(send("/signed/no-body?text=one")).replayed()).isTrue();
	}

	@RestController
	static class Signed {

		@Bean
		static SignedConverter signed(Rights rights) {
			return new SignedConverter(rights);
		}

		@PostMapping("/signed/body")
		@Idempotent
		public String read(@RequestBody String body) {
			return "read " + body;
		}

		@PostMapping("/signed/entity")
		@Idempotent
		public String read(HttpEntity<String> entity) {
			return "read " + entity.getBody();
		}

		@PostMapping("/signed/no-body")
		@Idempotent
		public String take(@RequestParam String text) {
			return "taken " + text;
		}

	}

	/** Reads signed texts of those who have rights. */
	static class SignedConverter extends StringHttpMessageConverter {

		private final Rights rights;

		SignedConverter(Rights rights) {
			this.rights = rights;
			setSupportedMediaTypes(List.of(MediaType.parseMediaType("application/signed")));
		}

		@Override
		protected String readInternal(Class<? extends String> type, HttpInputMessage message) throws IOException {
			this.rights.require();
			return super.readInternal(type, message);
		}

	}

}
