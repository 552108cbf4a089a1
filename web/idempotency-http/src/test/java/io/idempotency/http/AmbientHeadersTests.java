package io.idempotency.http;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.idempotency.http.StoredResponse.AmbientHeaders;
import io.idempotency.http.StoredResponse.Header;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Which headers are the handler's, and which those of the filters outside. */
class AmbientHeadersTests {

	private final Response response = new Response();

	@Test
	void headerThatWasThereBeforeIsNotStored() {
		this.response.setHeader("X-Trace", "1");
		AmbientHeaders ambient = this.response.ambient();
		assertThat(changes(ambient)).isEmpty();
	}

	@Test
	void headerThatIsNewIsStored() {
		AmbientHeaders ambient = this.response.ambient();
		this.response.addHeader("X-App", "a");
		this.response.addHeader("X-App", "b");
		assertThat(changes(ambient)).containsExactly(new Header("X-App", true, List.of("a", "b")));
	}

	@Test
	void valuesThatWereAddedToThoseOfAFilterAreAddedOnAReplayToo() {
		this.response.addHeader("Vary", "Origin");
		AmbientHeaders ambient = this.response.ambient();
		this.response.addHeader("vary", "Accept");
		assertThat(changes(ambient)).containsExactly(new Header("Vary", false, List.of("Accept")));
	}

	@Test
	void headerThatWasReplacedIsReplacedOnAReplayToo() {
		this.response.setHeader("Cache-Control", "no-cache");
		AmbientHeaders ambient = this.response.ambient();
		this.response.setHeader("Cache-Control", "max-age=60");
		assertThat(changes(ambient)).containsExactly(new Header("Cache-Control", true, List.of("max-age=60")));
	}

	@Test
	void longerHeaderWithAnotherBeginningHasReplacedTheOldOne() {
		this.response.setHeader("Link", "a");
		AmbientHeaders ambient = this.response.ambient();
		this.response.setHeader("Link", "b");
		this.response.addHeader("Link", "a");
		assertThat(changes(ambient)).containsExactly(new Header("Link", true, List.of("b", "a")));
	}

	@Test
	void shorterHeaderHasReplacedTheOldOne() {
		this.response.setHeader("Link", "a");
		this.response.addHeader("Link", "b");
		AmbientHeaders ambient = this.response.ambient();
		this.response.setHeader("Link", "a");
		assertThat(changes(ambient)).containsExactly(new Header("Link", true, List.of("a")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "Set-Cookie", "Set-Cookie2", "Authorization", "WWW-Authenticate", "Proxy-Authenticate",
			"Proxy-Authorization", "Authentication-Info", "Proxy-Authentication-Info", "Date", "Connection",
			"Proxy-Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "content-length",
			"content-type" })
	void headerOfOneAnswerOrOneConnectionIsNeverStored(String name) {
		AmbientHeaders ambient = this.response.ambient();
		assertThat(with(ambient, Set.of(), name)).isEmpty();
	}

	@Test
	void headerThatIsExcludedIsNotStored() {
		AmbientHeaders ambient = this.response.ambient();
		assertThat(with(ambient, Set.of("x-excluded"), "X-Excluded")).isEmpty();
		assertThat(with(ambient, Set.of("x-excluded"), "X-Kept")).hasSize(1);
	}

	@Test
	void headerThatWasNamedInTwoWaysIsStoredOnce() {
		AmbientHeaders ambient = this.response.ambient();
		assertThat(with(ambient, Set.of(), "X-App", "x-app"))
			.containsExactly(new Header("X-App", true, List.of("value")));
	}

	@Test
	void headerThatIsNamedAndHasNoValueAnyMoreIsNone() {
		this.response.setHeader("X-App", "filter");
		AmbientHeaders ambient = this.response.ambient();
		assertThat(ambient.changes(List.of("X-App"), (name) -> List.of(), Set.of())).isEmpty();
	}

	private List<Header> changes(AmbientHeaders ambient) {
		return ambient.changes(this.response.headers.keySet(), this.response::values, Set.of());
	}

	/** A container may name anything, in any case. */
	private static List<Header> with(AmbientHeaders ambient, Set<String> excluded, String... names) {
		return ambient.changes(List.of(names), (name) -> List.of("value"), excluded);
	}

	/** Headers as a container has them. */
	private static final class Response {

		private final Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

		void setHeader(String name, String value) {
			this.headers.put(name, new ArrayList<>(List.of(value)));
		}

		void addHeader(String name, String value) {
			this.headers.computeIfAbsent(name, (absent) -> new ArrayList<>()).add(value);
		}

		Collection<String> values(String name) {
			return this.headers.get(name);
		}

		AmbientHeaders ambient() {
			return new AmbientHeaders(this.headers.keySet(), this::values);
		}

	}

}
