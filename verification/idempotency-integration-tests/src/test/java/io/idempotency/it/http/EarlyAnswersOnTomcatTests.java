package io.idempotency.it.http;

import io.idempotency.it.scenarios.Scenario;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Spring refuses to answer with a future whose client sends an {@code Accept} header that
 * cannot be read, and does so while the work goes on: the end of the work is the end of
 * the call.
 */
class EarlyAnswersOnTomcatTests extends OnTomcat {

	private AsyncController async;

	private final CompletableFuture<String> work = new CompletableFuture<>();

	@BeforeEach
	void hold(@Autowired AsyncController proxy) {
		this.async = AopTestUtils.getTargetObject(proxy);
		this.async.held.put(this.key, this.work);
	}

	private Answer send() {
		return this.client.post("/async/held/" + this.key, this.key, "text/plain", "",
				(request) -> request.header("Accept", "text/html;q=0.1, nonsense"));
	}

	private int count() {
		return this.runs.of("/async/held/" + this.key);
	}

	@Test
	void answerIsReplayedWhenItsWorkHasReturned() {
		Answer first = send();
		assertThat(first.status()).as("%s", first).isEqualTo(406);
		Scenario.assertCode(send(), 409, "in-progress");
		this.work.complete("done");
		Answer second = await().until(this::send, (answer) -> answer.status() != 409);
		assertThat(second.status()).as("%s", second).isEqualTo(406);
		assertThat(second.replayed()).isTrue();
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(count()).isEqualTo(1);
	}

	@Test
	void keyIsFreeWhenTheWorkHasFailed() {
		assertThat(send().status()).isEqualTo(406);
		Scenario.assertCode(send(), 409, "in-progress");
		this.work.completeExceptionally(new IllegalStateException("failed"));
		Answer second = await().until(this::send, (answer) -> answer.status() != 409);
		assertThat(second.replayed()).isFalse();
		assertThat(count()).isEqualTo(2);
	}

	@Test
	void keyStaysClaimedWhenTheWorkWasGivenUp() {
		assertThat(send().status()).isEqualTo(406);
		// By then the request of the answer is over, too.
		Scenario.assertCode(send(), 409, "in-progress");
		this.work.completeExceptionally(new CancellationException());
		Scenario.assertCode(send(), 409, "in-progress");
		assertThat(count()).isEqualTo(1);
	}

}
