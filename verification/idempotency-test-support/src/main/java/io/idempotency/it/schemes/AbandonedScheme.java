package io.idempotency.it.schemes;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The outcome of an owner that is gone, and may yet come back. */
interface AbandonedScheme extends Scheme {

	private Answer post(String what) {
		return stage().post("/abandoned/" + stage().id() + "/" + what, stage().id());
	}

	/** An owner that others take for dead, and that ends when the latch is let go. */
	private <T> CompletableFuture<T> lost(Callable<T> call) {
		stage().store().cutNextOwnerOff();
		CompletableFuture<T> owner = stage().start(() -> {
			try {
				return call.call();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		});
		stage().effect().awaitStart();
		return owner;
	}

	@Test
	default void callOfALostOwnerRunsAgain() {
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<Answer> owner = lost(() -> post("rerun"));
		Expect.inProgress(post("rerun"));
		Expect.executed(stage().afterTheLease(() -> post("rerun")), 201, "run 2");
		gate.countDown();
		Expect.executed(owner.join(), 201, "run 1");
		Expect.replayed(post("rerun"), 201, "run 2");
	}

	@Test
	default void methodOfALostOwnerRunsAgain() {
		Callable<String> call = () -> stage().recoveries().rerun(stage().id(), stage().id());
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<String> owner = lost(call);
		assertThat(stage().resultAfterTheLease(call)).isEqualTo("run 2");
		gate.countDown();
		assertThat(owner.join()).isEqualTo("run 1");
		assertThat(stage().recoveries().rerun(stage().id(), stage().id())).isEqualTo("run 2");
	}

	@Test
	default void callOfALostOwnerIsRejectedUntilItCompletesAfterAll() {
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<Answer> owner = lost(() -> post("reject"));
		Expect.problem(stage().afterTheLease(() -> post("reject")), 409, "outcome-unknown");
		Expect.problem(post("reject"), 409, "outcome-unknown");
		gate.countDown();
		Expect.executed(owner.join(), 201, "run 1");
		Expect.replayed(post("reject"), 201, "run 1");
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

	@Test
	default void methodOfALostOwnerIsRejectedUntilItCompletesAfterAll() {
		Callable<String> call = () -> stage().recoveries().reject(stage().id(), stage().id());
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<String> owner = lost(call);
		stage().store().endLease();
		await().untilAsserted(
				() -> assertThat(catchThrowableOf(call)).isInstanceOf(IdempotencyOutcomeUnknownException.class));
		gate.countDown();
		assertThat(owner.join()).isEqualTo("run 1");
		assertThat(stage().recoveries().reject(stage().id(), stage().id())).isEqualTo("run 1");
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

	private static Throwable catchThrowableOf(Callable<String> call) throws Exception {
		try {
			return new AssertionError("It gave " + call.call());
		}
		catch (IdempotencyInProgressException | IdempotencyOutcomeUnknownException ex) {
			return ex;
		}
	}

	@Test
	default void resultOfALostOwnerIsLookedUpStoredAndReplayed() {
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<Answer> owner = lost(() -> post("recover"));
		stage().effect().willBeFound("order 7");
		Expect.replayed(stage().afterTheLease(() -> post("recover")), 201, "order 7");
		stage().effect().willBeFound("another");
		Expect.replayed(post("recover"), 201, "order 7");
		gate.countDown();
		Expect.executed(owner.join(), 201, "run 1");
		Expect.replayed(post("recover"), 201, "order 7");
		assertThat(stage().effect().runs()).isEqualTo(1);
		assertThat(stage().effect().lookUps()).isEqualTo(1);
	}

	@Test
	default void resultOfALostOwnersMethodIsLookedUpStoredAndReplayed() {
		Callable<String> call = () -> stage().recoveries().recover(stage().id(), stage().id());
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<String> owner = lost(call);
		stage().effect().willBeFound("order 7");
		assertThat(stage().resultAfterTheLease(call)).isEqualTo("order 7");
		stage().effect().willBeFound("another");
		assertThat(stage().recoveries().recover(stage().id(), stage().id())).isEqualTo("order 7");
		gate.countDown();
		assertThat(owner.join()).isEqualTo("run 1");
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

	@Test
	default void callOfALostOwnerThatDidNothingRunsAgain() {
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<Answer> owner = lost(() -> post("recover"));
		Expect.executed(stage().afterTheLease(() -> post("recover")), 201, "run 2");
		Expect.replayed(post("recover"), 201, "run 2");
		gate.countDown();
		Expect.executed(owner.join(), 201, "run 1");
		assertThat(stage().effect().lookUps()).isEqualTo(1);
	}

}
