package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.Future;

import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.EngineRuntime.StoreRuntime;
import io.idempotency.engine.GuardedAction.ThreadTransactions;
import io.idempotency.engine.ScriptedStore.Barrier;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Whatever ends a call wakes those up who wait for it on this node. Here a poll comes
 * after an hour, so that nothing but a wake-up can.
 */
class WakeUpTests {

	private final EngineFixture node = new EngineFixture();

	private final TestPolicy policy = TestPolicy.replay().waiting(Duration.ofHours(2)).lease(Duration.ofHours(3));

	private final GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(),
			this.node.store);

	private final EventPublisher events = new EventPublisher(this.node.events);

	private final ConflictWaiter waiter = new ConflictWaiter(1, this.node.ticker, Duration.ofHours(1).toMillis());

	private final EngineRuntime engine = EngineRuntime.create(this.waiter, DetachedCalls.Limits.DEFAULTS, this.events,
			this.node.ticker, ThreadTransactions.NONE, null, EngineObserver.NONE);

	private final StoreRuntime upkeep = this.engine.of(this.node.store);

	private final Claimer claimer = new Claimer(this.engine);

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void completionWakesUp() throws Exception {
		OwnedClaim owner = owner();
		Future<NextStep> waiter = startWaiter();
		owner.end(new CallOutcome.Done(() -> EngineFixture.text("one")));
		assertSettled(waiter, ClaimResult.Completed.class);
	}

	@Test
	void tombstoneWakesUp() throws Exception {
		OwnedClaim owner = owner();
		Future<NextStep> waiter = startWaiter();
		owner.end(CallOutcome.DONE_UNKEPT);
		assertSettled(waiter, ClaimResult.ResultUnavailable.class);
	}

	@Test
	void releaseWakesUp() throws Exception {
		OwnedClaim owner = owner();
		Future<NextStep> waiter = startWaiter();
		owner.end(new CallOutcome.Failed(new IllegalStateException("failed"), null));
		assertThat(waiter.get()).isInstanceOf(NextStep.Run.class);
	}

	@Test
	void completionThatWasRepeatedWakesUp() throws Exception {
		OwnedClaim owner = owner();
		this.node.store.failBefore(Verb.COMPLETE, 1);
		Future<NextStep> waiter = startWaiter();
		owner.end(new CallOutcome.Done(() -> EngineFixture.text("one")));
		assertSettled(waiter, ClaimResult.Completed.class);
	}

	@Test
	void releaseThatWasRepeatedWakesUp() throws Exception {
		OwnedClaim owner = owner();
		this.node.store.failBefore(Verb.RELEASE, 1);
		Future<NextStep> waiter = startWaiter();
		owner.end(new CallOutcome.NotRun(new IllegalStateException("rejected")));
		assertThat(waiter.get()).isInstanceOf(NextStep.Run.class);
	}

	/** Somebody else has taken over and is done by now. */
	@Test
	void rejectedCompletionWakesUp() throws Exception {
		OwnedClaim owner = owner();
		Future<NextStep> waiter = startWaiter();
		this.node.clock.advance(Duration.ofHours(3));
		this.node.completeElsewhere(this.node.claimElsewhere(this.policy), "successor");
		owner.end(new CallOutcome.Done(() -> EngineFixture.text("late")));
		assertSettled(waiter, ClaimResult.Completed.class);
	}

	/** It was applied, its reply was lost, and somebody else has run meanwhile. */
	@Test
	void repeatedReleaseThatIsRejectedWakesUp() throws Exception {
		OwnedClaim owner = owner();
		Future<NextStep> waiter = startWaiter();
		this.node.store.failAfter(Verb.RELEASE, 1);
		Barrier repeated = new Barrier();
		this.node.store.onLater(Verb.RELEASE, Point.BEFORE, 1, repeated::pass);
		owner.end(new CallOutcome.Failed(new IllegalStateException("failed"), null));
		this.node.completeElsewhere(this.node.claimElsewhere(this.policy), "successor");
		repeated.awaitReached();
		repeated.open();
		assertSettled(waiter, ClaimResult.Completed.class);
	}

	/** A claim was applied, and its replies were lost. */
	@Test
	void claimThatIsGivenBackWakesUp() throws Exception {
		this.node.store.failAfter(Verb.CLAIM, 2);
		Barrier givingBack = this.node.store.block(Verb.RELEASE, Point.BEFORE);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::claim);
		Future<NextStep> waiter = startWaiter();
		givingBack.awaitReached();
		givingBack.open();
		assertThat(waiter.get()).isInstanceOf(NextStep.Run.class);
	}

	private NextStep claim() {
		return claim(new ClaimStateMachine(this.call, ClaimOrigin.UNKNOWN));
	}

	/** Claims as the engine does, with a waiter whose poll comes too late. */
	private NextStep claim(ClaimStateMachine admission) {
		NextStep move = admission.begin(this.node.ticker.nanos());
		while (move instanceof NextStep.Send send) {
			move = this.claimer.send(send, admission, this.upkeep);
		}
		if (move instanceof NextStep.Wait) {
			return this.waiter.await(admission, (send) -> this.claimer.send(send, admission, this.upkeep));
		}
		if (move instanceof NextStep.Reject reject) {
			throw this.claimer.rejected(reject, admission, this.upkeep);
		}
		return move;
	}

	private OwnedClaim owner() {
		ClaimStateMachine admission = new ClaimStateMachine(this.call, ClaimOrigin.UNKNOWN);
		NextStep.Run run = (NextStep.Run) claim(admission);
		return new OwnedClaim(this.call, run.granted().claim(), ClaimOrigin.UNKNOWN, run.sentNanos(), this.upkeep,
				this.engine, ObservedCall.NONE);
	}

	/** It has asked twice: it waits, or is about to. */
	private Future<NextStep> startWaiter() {
		int asked = this.node.store.count(Verb.CLAIM);
		Future<NextStep> waiter = this.node.submit(this::claim);
		await().until(() -> this.node.store.count(Verb.CLAIM) == asked + 2);
		return waiter;
	}

	private static void assertSettled(Future<NextStep> waiter, Class<? extends ClaimResult> result) throws Exception {
		assertThat(waiter.get()).isInstanceOfSatisfying(NextStep.Answer.class,
				(answer) -> assertThat(answer.result()).isInstanceOf(result));
	}

}
