package io.idempotency.web;

import java.util.Collection;
import java.util.List;
import java.util.Set;

import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

/** Which headers are the handler's, and which those of the filters outside. */
class AmbientHeadersTests {

	private final MockHttpServletResponse response = new MockHttpServletResponse();

	@Test
	void headerThatWasThereBeforeIsNotStored() {
		this.response.setHeader("X-Trace", "1");
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		assertThat(changes(ambient)).isEmpty();
	}

	@Test
	void headerThatIsNewIsStored() {
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		this.response.addHeader("X-App", "a");
		this.response.addHeader("X-App", "b");
		assertThat(changes(ambient)).containsExactly(new ResponseHeader("X-App", true, List.of("a", "b")));
	}

	@Test
	void valuesThatWereAddedToThoseOfAFilterAreAddedOnAReplayToo() {
		this.response.addHeader("Vary", "Origin");
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		this.response.addHeader("vary", "Accept");
		assertThat(changes(ambient)).containsExactly(new ResponseHeader("Vary", false, List.of("Accept")));
	}

	@Test
	void headerThatWasReplacedIsReplacedOnAReplayToo() {
		this.response.setHeader("Cache-Control", "no-cache");
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		this.response.setHeader("Cache-Control", "max-age=60");
		assertThat(changes(ambient)).containsExactly(new ResponseHeader("Cache-Control", true, List.of("max-age=60")));
	}

	@Test
	void longerHeaderWithAnotherBeginningHasReplacedTheOldOne() {
		this.response.setHeader("Link", "a");
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		this.response.setHeader("Link", "b");
		this.response.addHeader("Link", "a");
		assertThat(changes(ambient)).containsExactly(new ResponseHeader("Link", true, List.of("b", "a")));
	}

	@Test
	void shorterHeaderHasReplacedTheOldOne() {
		this.response.setHeader("Link", "a");
		this.response.addHeader("Link", "b");
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		this.response.setHeader("Link", "a");
		assertThat(changes(ambient)).containsExactly(new ResponseHeader("Link", true, List.of("a")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "Set-Cookie", "Set-Cookie2", "Authorization", "WWW-Authenticate", "Proxy-Authenticate",
			"Proxy-Authorization", "Authentication-Info", "Proxy-Authentication-Info", "Date", "Connection",
			"Proxy-Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "content-length",
			"content-type" })
	void headerOfOneAnswerOrOneConnectionIsNeverStored(String name) {
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		assertThat(ambient.changes(with(name), Set.of())).isEmpty();
	}

	@Test
	void headerThatIsExcludedIsNotStored() {
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		assertThat(ambient.changes(with("X-Excluded"), Set.of("x-excluded"))).isEmpty();
		assertThat(ambient.changes(with("X-Kept"), Set.of("x-excluded"))).hasSize(1);
	}

	@Test
	void headerThatWasNamedInTwoWaysIsStoredOnce() {
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		assertThat(ambient.changes(with("X-App", "x-app"), Set.of()))
			.containsExactly(new ResponseHeader("X-App", true, List.of("value")));
	}

	@Test
	void headerThatIsNamedAndHasNoValueAnyMoreIsNone() {
		this.response.setHeader("X-App", "filter");
		AmbientHeaders ambient = new AmbientHeaders(this.response);
		HttpServletResponse empty = new HttpServletResponseWrapper(this.response) {

			@Override
			public Collection<String> getHeaderNames() {
				return List.of("X-App");
			}

			@Override
			public Collection<String> getHeaders(String name) {
				return List.of();
			}

		};
		assertThat(ambient.changes(empty, Set.of())).isEmpty();
	}

	private List<ResponseHeader> changes(AmbientHeaders ambient) {
		return ambient.changes(this.response, Set.of());
	}

	/** A container may name anything, in any case. */
	private HttpServletResponse with(String... names) {
		return new HttpServletResponseWrapper(this.response) {

			@Override
			public Collection<String> getHeaderNames() {
				return List.of(names);
			}

			@Override
			public Collection<String> getHeaders(String name) {
				return List.of("value");
			}

		};
	}

}
