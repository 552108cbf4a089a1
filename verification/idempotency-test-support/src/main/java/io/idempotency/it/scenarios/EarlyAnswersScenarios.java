package io.idempotency.it.scenarios;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Spring rejects to answer with a future whose client sends an {@code Accept} header that
 * cannot be read: Spring MVC while the work goes on, and WebFlux when it has ended. The
 * end of the work is the end of the call.
 */
public interface EarlyAnswersScenarios extends Scenario {

	/** Whether the client is answered while the work goes on. */
	default boolean answersEarly() {
		return true;
	}

	private String path() {
		return "/async/held/" + key();
	}

	private Answer send() {
		return client().post(path(), key(), "text/plain", "",
				(request) -> request.header("Accept", "text/html;q=0.1, nonsense"));
	}

	/** Sends the first request, and meets it while its work goes on. */
	private CompletableFuture<Answer> begin() {
		CompletableFuture<Answer> first = CompletableFuture.supplyAsync(this::send);
		if (answersEarly()) {
			assertThat(first.join().status()).as("%s", first.join()).isEqualTo(406);
		}
		await().until(() -> runs().of(path()) == 1);
		Scenario.assertCode(send(), 409, "in-progress");
		return first;
	}

	@Test
	default void answerIsReplayedWhenItsWorkHasReturned() {
		CompletableFuture<Answer> first = begin();
		runs().held(key()).complete("done");
		Answer second = await().until(this::send, (answer) -> answer.status() != 409);
		assertThat(second.status()).as("%s", second).isEqualTo(406);
		assertThat(second.replayed()).isTrue();
		assertThat(first.join().status()).isEqualTo(406);
		assertThat(second.body()).isEqualTo(first.join().body());
		assertThat(runs().of(path())).isEqualTo(1);
	}

	@Test
	default void keyIsFreeWhenTheWorkHasFailed() {
		begin();
		runs().held(key()).completeExceptionally(new IllegalStateException("failed"));
		Answer second = await().until(this::send, (answer) -> answer.status() != 409);
		assertThat(second.replayed()).isFalse();
		assertThat(runs().of(path())).isEqualTo(2);
	}

	@Test
	default void keyStaysClaimedWhenTheWorkWasGivenUp() {
		CompletableFuture<Answer> first = begin();
		runs().held(key()).completeExceptionally(new CancellationException());
		assertThat(first.join().status()).isEqualTo(406);
		Scenario.assertCode(send(), 409, "in-progress");
		assertThat(runs().of(path())).isEqualTo(1);
	}

}
