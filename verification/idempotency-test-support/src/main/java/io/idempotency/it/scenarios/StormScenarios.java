package io.idempotency.it.scenarios;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.idempotency.it.client.Answer;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Requests of one key that meet. */
public interface StormScenarios extends Scenario {

	/** How many duplicates wait for an owner. */
	int waiters();

	/** Sends a request on a thread of its own, and returns when its handler runs. */
	private CompletableFuture<Answer> begin(String path) {
		CompletableFuture<Answer> first = start(path);
		await().until(() -> runs().of(path) == 1);
		return first;
	}

	private CompletableFuture<Answer> start(String path) {
		return CompletableFuture.supplyAsync(() -> client().post(path, key()), (task) -> new Thread(task).start());
	}

	@Test
	default void hundredDuplicatesRunOnce() {
		int before = runs().of("/keys/orders");
		List<Answer> answers = ConcurrentDuplicates.of(100)
			.run((i) -> client().post("/keys/orders", key(), "application/json", "{\"sku\":\"sku-1\"}"))
			.valuesOrFail();
		List<Answer> done = answers.stream().filter((answer) -> answer.status() == 201).toList();
		assertThat(done).isNotEmpty().allSatisfy((answer) -> assertThat(answer.body()).isEqualTo(done.get(0).body()));
		assertThat(done).filteredOn((answer) -> !answer.replayed()).hasSize(1);
		assertThat(answers).filteredOn((answer) -> answer.status() != 201).allSatisfy((answer) -> {
			Scenario.assertCode(answer, 409, "in-progress");
			assertThat(Integer.parseInt(String.valueOf(answer.header("Retry-After")))).isPositive();
		});
		assertThat(runs().of("/keys/orders") - before).isEqualTo(1);
	}

	@Test
	default void duplicateOfARunningCallIsToldToComeBack() {
		String path = "/keys/slow/" + key();
		CompletableFuture<Answer> first = begin(path);
		Answer duplicate = client().post(path, key());
		Answer mismatch = client().post(path + "?other=1", key());
		runs().held(key()).complete("done");
		Scenario.assertCode(duplicate, 409, "in-progress");
		assertThat(duplicate.text()).contains("\"title\":\"A request is outstanding for this Idempotency-Key\"");
		Scenario.assertCode(mismatch, 422, "key-reused");
		assertThat(first.join().status()).isEqualTo(200);
		assertThat(client().post(path, key()).body()).isEqualTo(first.join().body());
	}

	@Test
	default void waitingDuplicatesGetTheAnswerOfTheFirst() {
		String path = "/keys/waiting/" + key();
		CompletableFuture<Answer> first = begin(path);
		List<CompletableFuture<Answer>> waiting = Stream.generate(() -> start(path)).limit(3).toList();
		await().until(this::waiters, (waiters) -> waiters == waiting.size());
		assertThat(waiting).noneMatch(CompletableFuture::isDone);
		runs().held(key()).complete("done");
		assertThat(waiting).allSatisfy((call) -> {
			assertThat(call.join().body()).isEqualTo(first.join().body());
			assertThat(call.join().replayed()).isTrue();
		});
		assertThat(runs().of(path)).isEqualTo(1);
	}

	@Test
	default void clientThatHangsUpChangesNothing() throws IOException {
		String path = "/keys/slow/" + key();
		client().hangUp(path, "Idempotency-Key: " + key() + "\r\n", () -> await().until(() -> runs().of(path) == 1));
		runs().held(key()).complete("done");
		await().untilAsserted(() -> {
			Answer retry = client().post(path, key());
			assertThat(retry.status()).isEqualTo(200);
			assertThat(retry.replayed()).isTrue();
		});
		assertThat(runs().of(path)).isEqualTo(1);
	}

	@Test
	default void immediateRetryNeverMeetsItsOwnUnfinishedRecord() {
		for (int i = 0; i < 60; i++) {
			String path = "/answers/content-length";
			String retried = key() + "-" + i;
			assertThat(client().post(path, retried).status()).isEqualTo(200);
			assertThat(client().post(path, retried).replayed()).isTrue();
		}
	}

}
