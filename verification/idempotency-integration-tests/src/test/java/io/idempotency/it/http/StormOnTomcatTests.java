package io.idempotency.it.http;

import io.idempotency.it.scenarios.Scenario;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.idempotency.it.client.Answer;
import io.idempotency.test.DuplicateStorm;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class StormOnTomcatTests extends OnTomcat {

	private static final String JSON = "application/json";

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private KeysController keys;

	@BeforeEach
	void lookUp(@Autowired KeysController proxy) {
		this.keys = AopTestUtils.getTargetObject(proxy);
	}

	@AfterEach
	void stop() {
		this.keys.mayEnd.countDown();
		this.keys.mayEnd = new CountDownLatch(0);
		this.threads.shutdownNow();
	}

	private CompletableFuture<Answer> start(String path) {
		return CompletableFuture.supplyAsync(() -> this.client.post(path, this.key), this.threads);
	}

	@Test
	void hundredDuplicatesRunOnce() {
		int before = this.runs.of("/keys/orders");
		List<Answer> answers = DuplicateStorm.of(100)
			.run((i) -> this.client.post("/keys/orders", this.key, JSON, "{\"sku\":\"sku-1\"}"))
			.valuesOrFail();
		List<Answer> done = answers.stream().filter((answer) -> answer.status() == 201).toList();
		assertThat(done).isNotEmpty().allSatisfy((answer) -> assertThat(answer.body()).isEqualTo(done.get(0).body()));
		assertThat(done).filteredOn((answer) -> !answer.replayed()).hasSize(1);
		assertThat(answers).filteredOn((answer) -> answer.status() != 201).allSatisfy((answer) -> {
			Scenario.assertCode(answer, 409, "in-progress");
			assertThat(Integer.parseInt(String.valueOf(answer.header("Retry-After")))).isPositive();
		});
		assertThat(this.runs.of("/keys/orders") - before).isEqualTo(1);
	}

	@Test
	void duplicateOfARunningCallIsToldToComeBack() throws Exception {
		this.keys.mayEnd = new CountDownLatch(1);
		this.keys.running = new CountDownLatch(1);
		CompletableFuture<Answer> first = start("/keys/slow");
		this.keys.running.await();
		Answer duplicate = this.client.post("/keys/slow", this.key);
		Answer mismatch = this.client.post("/keys/slow?other=1", this.key);
		this.keys.mayEnd.countDown();
		Scenario.assertCode(duplicate, 409, "in-progress");
		assertThat(duplicate.text()).contains("\"title\":\"A request is outstanding for this Idempotency-Key\"");
		Scenario.assertCode(mismatch, 422, "key-reused");
		assertThat(first.join().status()).isEqualTo(200);
		assertThat(this.client.post("/keys/slow", this.key).body()).isEqualTo(first.join().body());
	}

	@Test
	void waitingDuplicatesGetTheAnswerOfTheFirst() throws Exception {
		this.keys.mayEnd = new CountDownLatch(1);
		this.keys.running = new CountDownLatch(1);
		int before = this.runs.of("/keys/waiting");
		CompletableFuture<Answer> first = start("/keys/waiting");
		this.keys.running.await();
		List<CompletableFuture<Answer>> waiting = List.of(start("/keys/waiting"), start("/keys/waiting"),
				start("/keys/waiting"));
		await().until(StormOnTomcatTests::waiters, (waiters) -> waiters == waiting.size());
		assertThat(waiting).noneMatch(CompletableFuture::isDone);
		this.keys.mayEnd.countDown();
		assertThat(waiting).allSatisfy((call) -> {
			assertThat(call.join().body()).isEqualTo(first.join().body());
			assertThat(call.join().replayed()).isTrue();
		});
		assertThat(this.runs.of("/keys/waiting") - before).isEqualTo(1);
	}

	/** The threads of this JVM that wait for an owner, by what they are doing. */
	private static long waiters() {
		return Thread.getAllStackTraces()
			.values()
			.stream()
			.filter((stack) -> Arrays.stream(stack)
				.anyMatch((frame) -> frame.getClassName().equals("io.idempotency.upkeep.ConflictWaiter")))
			.count();
	}

	@Test
	void clientThatHangsUpChangesNothing() throws IOException, InterruptedException {
		this.keys.mayEnd = new CountDownLatch(1);
		this.keys.running = new CountDownLatch(1);
		int before = this.runs.of("/keys/slow");
		this.client.hangUp("/keys/slow", "Idempotency-Key: " + this.key + "\r\n");
		this.keys.running.await();
		this.keys.mayEnd.countDown();
		await().untilAsserted(() -> {
			Answer retry = this.client.post("/keys/slow", this.key);
			assertThat(retry.status()).isEqualTo(200);
			assertThat(retry.replayed()).isTrue();
		});
		assertThat(this.runs.of("/keys/slow") - before).isEqualTo(1);
	}

	@Test
	void immediateRetryNeverMeetsItsOwnUnfinishedRecord() {
		for (int i = 0; i < 60; i++) {
			String path = "/answers/content-length";
			String retried = this.key + "-" + i;
			assertThat(this.client.post(path, retried).status()).isEqualTo(200);
			assertThat(this.client.post(path, retried).replayed()).isTrue();
		}
	}

}
