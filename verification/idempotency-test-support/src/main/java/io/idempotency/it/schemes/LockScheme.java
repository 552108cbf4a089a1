package io.idempotency.it.schemes;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.it.client.Answer;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.Test;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** A lock: overlapping calls are rejected, and nothing is kept. */
interface LockScheme extends Scheme {

	private Answer lock() {
		return stage().post("/locks/" + stage().id(), "unused");
	}

	private String method() {
		return stage().methods().lock(stage().id());
	}

	@Test
	default void locksNeverOverlap() {
		List<Answer> answers = ConcurrentDuplicates.of(Stage.STORM).run((i) -> lock()).valuesOrFail();
		assertThat(stage().effect().mostAtOnce()).isEqualTo(1);
		List<Answer> done = answers.stream().filter((answer) -> answer.status() == 200).toList();
		assertThat(done).hasSize(stage().effect().runs());
		assertThat(answers).filteredOn((answer) -> answer.status() != 200).allSatisfy(Expect::inProgress);
		Expect.executed(lock(), "run " + (done.size() + 1));
	}

	@Test
	default void locksOfAMethodNeverOverlap() {
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<String> first = stage().start(this::method);
		stage().effect().awaitStart();
		ConcurrentDuplicates.Result<String> storm = ConcurrentDuplicates.of(Stage.STORM).run((i) -> method());
		assertThat(storm.values()).isEmpty();
		assertThat(storm.failures())
			.allSatisfy((failure) -> assertThat(failure).isInstanceOf(IdempotencyInProgressException.class));
		gate.countDown();
		assertThat(first.join()).isEqualTo("run 1");
		assertThat(method()).isEqualTo("run 2");
	}

	@Test
	default void lockTakesTwoRoundTripsAndIsRejectedInOne() {
		CountingStore store = stage().store();
		assertThat(store.roundTripsOf(() -> Expect.executed(lock(), "run 1")))
			.isEqualTo(Map.of("claim", 1, "complete", 1));
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<Answer> owner = stage().start(this::lock);
		stage().effect().awaitStart();
		stage().effect().awaitStart();
		Map<String, Integer> rejected = store.roundTripsOf(() -> Expect.inProgress(lock()));
		gate.countDown();
		assertThat(rejected).containsEntry("claim", 1).doesNotContainKeys("complete", "release");
		Expect.executed(owner.join(), "run 2");
	}

	@Test
	default void failedCallFreesItsLock() {
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThat(stage().store().roundTripsOf(() -> assertThat(lock().status()).isEqualTo(500)))
			.isEqualTo(Map.of("claim", 1, "release", 1));
		Expect.executed(lock(), "run 2");
	}

	@Test
	default void lockIsRenewedWhileItsOwnerRuns() {
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<Answer> owner = stage().start(this::lock);
		stage().effect().awaitStart();
		int before = stage().store().renewals();
		await().until(() -> stage().store().renewals() >= before + 2);
		Expect.inProgress(lock());
		gate.countDown();
		Expect.executed(owner.join(), "run 1");
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

	@Test
	default void lateOwnerDoesNotFreeTheLockOfItsSuccessor() {
		CountDownLatch late = stage().effect().holdNextRun();
		CountDownLatch next = stage().effect().holdNextRun();
		stage().store().cutNextOwnerOff();
		CompletableFuture<Answer> lateOwner = stage().start(this::lock);
		stage().effect().awaitStart();
		CompletableFuture<Answer> successor = stage().start(() -> stage().afterTheLease(this::lock));
		stage().effect().awaitStart();
		late.countDown();
		Expect.executed(lateOwner.join(), "run 1");
		Expect.inProgress(lock());
		next.countDown();
		Expect.executed(successor.join(), "run 2");
		Expect.executed(lock(), "run 3");
	}

	@Test
	default void lateOwnerThatFailsDoesNotFreeTheLockOfItsSuccessor() {
		CountDownLatch late = stage().effect().holdNextRun();
		CountDownLatch next = stage().effect().holdNextRun();
		stage().effect().failNextRun(new IllegalStateException("late"));
		stage().store().cutNextOwnerOff();
		CompletableFuture<String> lateOwner = stage().start(this::method);
		stage().effect().awaitStart();
		CompletableFuture<String> successor = stage().start(() -> stage().resultAfterTheLease(this::method));
		stage().effect().awaitStart();
		late.countDown();
		assertThat(lateOwner).failsWithin(1, MINUTES);
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(this::method);
		next.countDown();
		assertThat(successor.join()).isEqualTo("run 2");
	}

}
