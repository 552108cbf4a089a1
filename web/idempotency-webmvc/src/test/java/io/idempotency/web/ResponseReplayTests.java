package io.idempotency.web;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.idempotency.http.StoredResponse;
import io.idempotency.http.StoredResponse.EndedBy;
import io.idempotency.http.StoredResponse.Header;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

class ResponseReplayTests {

	private final MockHttpServletResponse response = new MockHttpServletResponse();

	private final ResponseReplay replay = new ResponseReplay("Idempotent-Replayed");

	/** Tomcat 11 ends an answer at once whose declared length is reached. */
	@Test
	void lengthOfNothingIsNotDeclared() throws IOException {
		this.replay.send(answer(EndedBy.BODY, 0, ""), this.response);
		assertThat(this.response.getHeader("Content-Length")).isNull();
	}

	@Test
	void lengthThatAnAnswerWithoutABodyHasDeclaredIsDeclared() throws IOException {
		this.replay.send(answer(EndedBy.BODY, 1, ""), this.response);
		assertThat(this.response.getHeader("Content-Length")).isEqualTo("1");
	}

	@Test
	void lengthOfABodyIsItsOwn() throws IOException {
		this.replay.send(answer(EndedBy.BODY, 7, "abc"), this.response);
		assertThat(this.response.getHeader("Content-Length")).isEqualTo("3");
		assertThat(this.response.getContentAsString()).isEqualTo("abc");
	}

	/** A container drops the body of a redirect unless it is told otherwise. */
	@Test
	void bodyOfARedirectIsSent() throws IOException {
		MockHttpServletResponse dropping = new MockHttpServletResponse() {

			@Override
			public void sendRedirect(String location) throws IOException {
				resetBuffer();
				super.sendRedirect(location);
			}

		};
		this.replay.send(answer(EndedBy.REDIRECT, -1, "moved"), dropping);
		assertThat(dropping.getContentAsString()).isEqualTo("moved");
		assertThat(dropping.getRedirectedUrl()).isEqualTo("/text");
	}

	@Test
	void whatOthersHaveWrittenMeanwhileIsDropped() throws IOException {
		this.response.getOutputStream().print("junk");
		this.replay.send(answer(EndedBy.BODY, -1, "abc"), this.response);
		assertThat(this.response.getContentAsString()).isEqualTo("abc");
	}

	@Test
	void firstValueReplacesAndTheOthersAreAdded() throws IOException {
		this.response.setHeader("X-App", "filter");
		this.response.setHeader("Vary", "filter");
		StoredResponse stored = new StoredResponse(EndedBy.BODY, 200, null, -1, null,
				List.of(new Header("X-App", true, List.of("a", "b")), new Header("Vary", false, List.of("c", "d"))),
				StoredResponse.NO_BODY);
		this.replay.send(stored, this.response);
		assertThat(this.response.getHeaders("X-App")).containsExactly("a", "b");
		assertThat(this.response.getHeaders("Vary")).containsExactly("filter", "c", "d");
	}

	private static StoredResponse answer(EndedBy ending, long declaredLength, String body) {
		return new StoredResponse(ending, (ending == EndedBy.REDIRECT) ? 302 : 200, null, declaredLength, "/text",
				List.of(), ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8)));
	}

}
