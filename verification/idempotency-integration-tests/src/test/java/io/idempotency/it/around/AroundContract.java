package io.idempotency.it.around;

import java.util.UUID;

import io.idempotency.it.around.AroundApplication.Calls;
import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each request twice: the second is answered as the first was, and nothing runs again.
 */
abstract class AroundContract {

	@Autowired
	Calls calls;

	final String key = UUID.randomUUID().toString();

	@BeforeEach
	void forget() {
		this.calls.forget();
	}

	abstract Answer send(String method, String path) throws Exception;

	private Answer twice(String method, String path, int status) throws Exception {
		Answer first = send(method, path);
		Answer second = send(method, path);
		assertThat(first.status()).as("first %s", first).isEqualTo(status);
		assertThat(first.replayed()).isFalse();
		assertThat(second.status()).as("second %s", second).isEqualTo(status);
		assertThat(second.replayed()).as("second %s", second).isTrue();
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.comparableHeaders()).isEqualTo(first.comparableHeaders());
		assertThat(this.calls.of("run")).isEqualTo(1);
		return second;
	}

	@Test
	void replayHasTheEtagOfTheFirstAnswer() throws Exception {
		assertThat(twice("GET", "/around/etag", 200).header("ETag")).isNotNull();
	}

	@Test
	void headHasTheLengthThatWasDeclared() throws Exception {
		assertThat(twice("HEAD", "/around/head", 200).header("Content-Length")).isEqualTo("17");
	}

	@Test
	void notModifiedIsReplayedWithoutABody() throws Exception {
		assertThat(twice("GET", "/around/not-modified", 304).body()).isEmpty();
	}

	@Test
	void aspectThatCatchesEverythingDoesNotChangeAReplay() throws Exception {
		assertThat(twice("POST", "/around/caught", 200).text()).isEqualTo("[run 1]");
	}

	@Test
	void exceptionHandlerForEverythingDoesNotSeeAReplay() throws Exception {
		assertThat(twice("POST", "/around/handled", 422).text()).isEqualTo("[handled run 1]");
		assertThat(this.calls.of("handler")).isEqualTo(1);
	}

	@Test
	void adviceThatChangesBodiesChangesThemOnce() throws Exception {
		Answer replay = twice("POST", "/around/long", 200);
		assertThat(replay.text()).startsWith("[run 1").endsWith("]");
		assertThat(replay.header("Link")).isEqualTo("</terms>; rel=license");
		assertThat(this.calls.of("body advice")).isEqualTo(1);
	}

	@Test
	void interceptorsComeBeforeTheGuardAndAfterTheAnswer() throws Exception {
		twice("POST", "/around/long", 200);
		assertThat(this.calls.of("preHandle")).isEqualTo(2);
		assertThat(this.calls.of("postHandle")).isEqualTo(1);
		assertThat(this.calls.of("afterCompletion")).isEqualTo(2);
	}

}
