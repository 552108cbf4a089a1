package io.idempotency.reactor;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.AbandonedMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyRecord.State;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.StoreFailureMode;
import io.idempotency.key.Fingerprint;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.Claim;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.engine.Claimer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

import static org.assertj.core.api.Assertions.assertThat;

/** Each move of a call, and each end, over a store that does what the test says. */
class ReactiveMovesTests {

	private static final IdempotencyOptions REPLAY = ReactiveNode.REPLAY;

	private static final IdempotencyOptions WAIT = ReactiveNode.WAIT;

	private static final Duration HOUR = Duration.ofHours(1);

	private final ReactiveNode node = new ReactiveNode();

	private final Sinks.One<String> gate = Sinks.one();

	private final TextAction order = new TextAction(Mono.just("order-1"));

	private final TextAction slow = new TextAction(this.gate.asMono());

	private final TextAction duplicate = new TextAction(Mono.error(new AssertionError("runs twice")));

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void nothingIsClaimedBeforeTheSubscription() {
		Mono<String> call = this.node.guarded(REPLAY, this.order);
		assertThat(this.node.store.asked).isEmpty();
		assertThat(Client.of(call).value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("claim", "complete");
	}

	@Test
	void workRunsOnceAndItsResultIsGivenAgain() {
		Mono<String> call = this.node.guarded(REPLAY, this.order);
		assertThat(Client.of(call).value).isEqualTo("order-1");
		assertThat(Client.of(call).value).isEqualTo("order-1");
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(1);
		assertThat(this.node.events).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED,
				IdempotencyEvent.REPLAYED);
	}

	/** An empty end is no missing record: the work must not run again. */
	@Test
	void emptyIsAResult() {
		TextAction empty = new TextAction(Mono.empty());
		Client<String> first = this.node.start(REPLAY, empty);
		Client<String> second = this.node.start(REPLAY, empty);
		assertThat(first.completed).isTrue();
		assertThat(second.completed).isTrue();
		assertThat(second.value).isNull();
		assertThat(empty.runs).hasValue(1);
		assertThat(this.node.state()).isEqualTo(State.DONE);
	}

	@Test
	void failureFreesTheKeyAndIsTheCallers() {
		IllegalStateException failure = new IllegalStateException("no stock");
		assertThat(this.node.start(REPLAY, new TextAction(Mono.error(failure))).failure).isSameAs(failure);
		assertThat(this.node.state()).isNull();
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
	}

	@Test
	void workThatCannotBePutTogetherHasFailed() {
		IllegalStateException failure = new IllegalStateException("no client");
		TextAction broken = new TextAction(Mono.defer(() -> {
			throw failure;
		}));
		assertThat(this.node.start(REPLAY, broken).failure).isSameAs(failure);
		assertThat(this.node.state()).isNull();
	}

	/** A transaction emits first and commits then. */
	@Test
	void failureBehindTheValueIsAFailure() {
		IllegalStateException failure = new IllegalStateException("rolled back");
		TextAction transaction = new TextAction(Mono.usingWhen(Mono.just("connection"),
				(connection) -> Mono.just("order-1"), (connection) -> Mono.error(failure)));
		assertThat(this.node.start(REPLAY, transaction).failure).hasRootCause(failure);
		assertThat(this.node.state()).isNull();
	}

	@Test
	void duplicateOfARunningCallIsRejected() {
		Client<String> first = this.node.start(REPLAY, this.slow);
		assertThat(this.node.start(REPLAY, this.duplicate).failure).isInstanceOf(IdempotencyInProgressException.class);
		this.gate.tryEmitValue("order-1");
		assertThat(first.value).isEqualTo("order-1");
	}

	/** The answer is the sign that a retry is safe, so the record comes first. */
	@Test
	void answerComesAfterTheRecord() {
		GatedStore.Gate reply = this.node.store.holdRequest("complete");
		Client<String> first = this.node.start(REPLAY, this.order);
		assertThat(first.isAnswered()).isFalse();
		assertThat(this.node.start(REPLAY, this.duplicate).failure).isInstanceOf(IdempotencyInProgressException.class);
		reply.open();
		assertThat(first.value).isEqualTo("order-1");
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
	}

	@Test
	void keyOfAnotherRequestIsRejected() {
		assertThat(Client.of(with("body-1", this.order)).value).isEqualTo("order-1");
		assertThat(Client.of(with("body-2", this.duplicate)).failure).isInstanceOf(IdempotencyKeyReusedException.class);
	}

	private Mono<String> with(String body, TextAction action) {
		GuardedCall call = new GuardedCall(ReactiveNode.KEY, Fingerprint.of("test1").add(body).build(), REPLAY,
				this.node.memory);
		return this.node.reactive.execute(call, action, OnDisconnect.CONTINUE);
	}

	@Test
	void rejectRejectsEachDuplicate() {
		IdempotencyOptions reject = REPLAY.change().mode(IdempotencyMode.REJECT).build();
		assertThat(this.node.start(reject, this.order).value).isEqualTo("order-1");
		assertThat(this.node.start(reject, this.duplicate).failure).isInstanceOfSatisfying(
				IdempotencyDuplicateException.class, (rejection) -> assertThat(rejection.attempts()).isEqualTo(2));
		assertThat(this.node.store.asked).containsExactly("claim", "claim");
	}

	@Test
	void lockIsForgotten() {
		IdempotencyOptions lock = REPLAY.change().mode(IdempotencyMode.LOCK).build();
		this.node.start(lock, this.order);
		assertThat(this.node.state()).isNull();
		this.node.start(lock, this.order);
		assertThat(this.order.runs).hasValue(2);
	}

	@Test
	void duplicateWaitsAndIsGivenTheResult() {
		this.node.start(WAIT, this.slow);
		Client<String> waiting = this.node.start(WAIT, this.duplicate);
		assertThat(waiting.isAnswered()).isFalse();
		assertThat(this.node.engine.load().waiters()).isOne();
		this.gate.tryEmitValue("order-1");
		assertThat(waiting.value).isEqualTo("order-1");
		assertThat(this.node.engine.load().waiters()).isZero();
	}

	/** The application ends, and with it the timers that would wake them. */
	@Test
	void waitEndsWithTheEngine() {
		this.node.claimElsewhere(Duration.ofHours(1));
		Client<String> first = this.node.start(WAIT, this.order);
		Client<String> second = this.node.start(WAIT, this.order);
		assertThat(second.isAnswered()).isFalse();
		this.node.engine.close(Duration.ZERO);
		this.node.time.close();
		assertThat(first.failure).isInstanceOf(IdempotencyInProgressException.class);
		assertThat(second.failure).isInstanceOf(IdempotencyInProgressException.class);
		assertThat(this.order.runs).hasValue(0);
	}

	@Test
	void duplicateWaitsForEmptyEnd() {
		this.node.start(WAIT, this.slow);
		Client<String> waiting = this.node.start(WAIT, this.duplicate);
		this.gate.tryEmitEmpty();
		assertThat(waiting.completed).isTrue();
		assertThat(waiting.value).isNull();
	}

	@Test
	void oneOfThoseThatWaitRunsWhenTheOwnerHasFailed() {
		this.node.start(WAIT, this.slow);
		Client<String> second = this.node.start(WAIT, this.order);
		Client<String> third = this.node.start(WAIT, this.order);
		this.gate.tryEmitError(new IllegalStateException("no stock"));
		assertThat(second.value).isEqualTo("order-1");
		assertThat(third.value).isEqualTo("order-1");
		assertThat(this.order.runs).hasValue(1);
	}

	@Test
	void ownerOnAnotherNodeIsFoundDoneByAPoll() {
		Claim claim = this.node.claimElsewhere(HOUR);
		Client<String> waiting = this.node.start(WAIT, this.duplicate);
		this.node.memory
			.complete(Completion.result(claim, Fingerprint.NONE, TextAction.text("=order-1"), Duration.ofHours(24)));
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(waiting.value).isEqualTo("order-1");
		assertThat(this.node.time.timers()).isZero();
	}

	@Test
	void ownerOnAnotherNodeThatDiesIsTakenOver() {
		this.node.claimElsewhere(Duration.ofSeconds(5));
		Client<String> waiting = this.node.start(WAIT, this.order);
		this.node.time.advance(Duration.ofSeconds(6));
		assertThat(waiting.value).isEqualTo("order-1");
		assertThat(this.node.events).contains(IdempotencyEvent.TAKEN_OVER);
	}

	@Test
	void waitEndsWithItsTimeout() {
		this.node.claimElsewhere(HOUR);
		Client<String> waiting = this.node.start(WAIT, this.duplicate);
		this.node.time.advance(Duration.ofSeconds(9));
		assertThat(waiting.isAnswered()).isFalse();
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(waiting.failure).isInstanceOf(IdempotencyInProgressException.class);
		assertThat(this.node.engine.load().waiters()).isZero();
	}

	@Test
	void noMoreWaitThanThePlaces() {
		this.node.claimElsewhere(HOUR);
		for (int i = 0; i < 100; i++) {
			assertThat(this.node.start(WAIT, this.duplicate).isAnswered()).isFalse();
		}
		assertThat(this.node.start(WAIT, this.duplicate).failure).isInstanceOf(IdempotencyInProgressException.class);
	}

	@Test
	void claimWhoseReplyIsLostIsSentOnceMore() {
		this.node.store.loseReply("claim");
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("claim", "claim", "complete");
	}

	@Test
	void claimThatIsLostTwiceIsRejectedAndGivenBack() {
		this.node.store.loseReply("claim");
		this.node.store.loseReply("claim");
		assertThat(this.node.start(REPLAY, this.order).failure)
			.isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(this.node.state()).isNull();
		assertThat(this.order.runs).hasValue(0);
	}

	@Test
	void storeThatSaysNothingHasNotAnswered() {
		this.node.store.sayNothing("claim");
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
		this.node.store.sayNothing("complete");
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
	}

	@Test
	void claimThatHasNotLeftIsNotSentAgain() {
		this.node.store.fail("claim", new StoreNotReachedException("no connection", new IllegalStateException()));
		assertThat(this.node.start(REPLAY, this.order).failure)
			.isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(this.node.store.asked).containsExactly("claim");
		assertThat(this.node.time.timers()).isZero();
	}

	@Test
	void errorOfTheStoreGivesTheClaimBack() {
		AssertionError error = new AssertionError("broken");
		this.node.store.fail("claim", error);
		assertThat(this.node.start(REPLAY, this.order).failure).isSameAs(error);
		assertThat(this.node.engine.load().outstandingWrites()).isOne();
	}

	/** Reactor throws such errors where it signals others. */
	@Test
	void errorOfTheJvmInTheWorkFreesTheKey() {
		NoClassDefFoundError error = new NoClassDefFoundError("broken");
		TextAction broken = new TextAction(Mono.fromSupplier(() -> {
			throw error;
		}));
		assertThat(this.node.start(REPLAY, broken).failure).isSameAs(error);
		assertThat(this.node.engine.load().runningClaims()).isZero();
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
	}

	@Test
	void errorOfTheJvmInTheStoreGivesTheClaimBack() {
		NoClassDefFoundError error = new NoClassDefFoundError("broken");
		this.node.store.breakDown("claim", error);
		assertThat(this.node.start(REPLAY, this.order).failure).isSameAs(error);
		assertThat(this.node.engine.load().outstandingWrites()).isOne();
	}

	@Test
	void callRunsUnguardedWhereThePolicySaysSo() {
		this.node.store.fail("claim", new StoreNotReachedException("no connection", new IllegalStateException()));
		IdempotencyOptions proceed = REPLAY.change().onStoreFailure(StoreFailureMode.PROCEED).build();
		TextAction seen = new TextAction(
				ReactiveIdempotencyContext.get().map(IdempotencyContext::key).defaultIfEmpty("no context"));
		assertThat(this.node.start(proceed, seen).value).isEqualTo("no context");
		assertThat(this.node.events).containsExactly(IdempotencyEvent.UNGUARDED);
	}

	@Test
	void callsDoNotAskAStoreThatIsAway() {
		for (int i = 0; i < 3; i++) {
			GatedStore.Gate failure = this.node.store.holdFailure("claim",
					new StoreNotReachedException("no connection", new IllegalStateException()));
			Client<String> waiting = this.node.start(REPLAY, this.duplicate);
			this.node.time.advance(Claimer.AT_ONCE);
			failure.open();
			assertThat(waiting.failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		}
		this.node.store.asked.clear();
		IdempotencyOptions proceed = REPLAY.change().onStoreFailure(StoreFailureMode.PROCEED).build();
		for (int i = 0; i < 100; i++) {
			assertThat(this.node.start(REPLAY, this.duplicate).failure)
				.isInstanceOf(IdempotencyStoreUnavailableException.class);
			assertThat(this.node.start(proceed, this.order).value).isEqualTo("order-1");
		}
		assertThat(this.order.runs).hasValue(100);
		assertThat(this.duplicate.runs).hasValue(0);
		assertThat(this.node.store.asked).isEmpty();
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("claim", "complete");
	}

	@Test
	void claimWhoseReplyIsLateIsRenewedBeforeItsCallRuns() {
		GatedStore.Gate reply = this.node.store.holdReply("claim");
		Client<String> late = this.node.start(REPLAY, this.order);
		this.node.time.advance(REPLAY.lease().dividedBy(2));
		reply.open();
		assertThat(late.value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("claim", "renew", "complete");
	}

	@Test
	void claimThatWasLostBeforeItsCallRunsIsNone() {
		GatedStore.Gate reply = this.node.store.holdReply("claim");
		Client<String> late = this.node.start(REPLAY, this.order);
		this.node.time.advance(REPLAY.lease().plusSeconds(1));
		this.node.claimElsewhere(HOUR);
		reply.open();
		assertThat(late.failure).isInstanceOf(IdempotencyInProgressException.class);
		assertThat(this.order.runs).hasValue(0);
		assertThat(this.node.events).doesNotContain(IdempotencyEvent.LEASE_LOST);
	}

	@Test
	void renewalThatFailsRejectsTheCall() {
		GatedStore.Gate reply = this.node.store.holdReply("claim");
		this.node.store.fail("renew", new IdempotencyStoreException("away"));
		Client<String> late = this.node.start(REPLAY, this.order);
		this.node.time.advance(REPLAY.lease().dividedBy(2));
		reply.open();
		assertThat(late.failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(this.node.state()).isNull();
	}

	@Test
	void claimIsRenewedWhileTheWorkRuns() {
		this.node.start(REPLAY, this.slow);
		this.node.time.advance(REPLAY.lease().multipliedBy(5));
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		assertThat(this.node.start(REPLAY, this.duplicate).failure).isInstanceOf(IdempotencyInProgressException.class);
		this.gate.tryEmitValue("order-1");
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
	}

	/** Nobody may ever complete it. */
	@Test
	void claimIsRenewedNoLongerThanItsRetention() {
		IdempotencyOptions brief = REPLAY.change().retention(Duration.ofMinutes(5)).build();
		this.node.start(brief, this.slow);
		this.node.time.advance(Duration.ofMinutes(6));
		assertThat(this.node.state()).isNull();
		assertThat(this.node.engine.load().runningClaims()).isZero();
	}

	@Test
	void abandonedCallIsLookedUpFirst() {
		this.node.claimElsewhere(Duration.ofSeconds(5));
		this.node.time.advance(Duration.ofSeconds(6));
		IdempotencyOptions recoverable = REPLAY.change().recoverable(true).build();
		TextAction found = new TextAction(Mono.error(new AssertionError("runs twice"))).finding(Mono.just("order-1"));
		assertThat(this.node.start(recoverable, found).value).isEqualTo("order-1");
		assertThat(this.node.start(recoverable, this.duplicate).value).isEqualTo("order-1");
		assertThat(found.runs).hasValue(0);
	}

	@Test
	void abandonedCallOfWhichNothingIsFoundRuns() {
		this.node.claimElsewhere(Duration.ofSeconds(5));
		this.node.time.advance(Duration.ofSeconds(6));
		IdempotencyOptions recoverable = REPLAY.change().recoverable(true).build();
		assertThat(this.node.start(recoverable, this.order).value).isEqualTo("order-1");
		assertThat(this.order.lookUps).hasValue(1);
	}

	@Test
	void abandonedCallWhoseLookUpFailsDoesNotRun() {
		this.node.claimElsewhere(Duration.ofSeconds(5));
		this.node.time.advance(Duration.ofSeconds(6));
		IdempotencyOptions recoverable = REPLAY.change().recoverable(true).build();
		IllegalStateException failure = new IllegalStateException("database away");
		assertThat(this.node.start(recoverable, this.order.finding(Mono.error(failure))).failure).isSameAs(failure);
		assertThat(this.order.runs).hasValue(0);
		assertThat(this.node.state()).isEqualTo(State.ABANDONED);
	}

	@Test
	void abandonedCallThatMustNotRunAgainIsRejected() {
		this.node.claimElsewhere(Duration.ofSeconds(5));
		this.node.time.advance(Duration.ofSeconds(6));
		IdempotencyOptions reject = REPLAY.change().onAbandoned(AbandonedMode.REJECT).build();
		assertThat(this.node.start(reject, this.duplicate).failure)
			.isInstanceOf(IdempotencyOutcomeUnknownException.class);
	}

	@Test
	void resultThatIsNotKeptIsLookedUp() {
		IdempotencyOptions unkept = REPLAY.change().keepResult(false).recoverable(true).build();
		this.node.start(unkept, this.order);
		assertThat(this.node.start(unkept, this.order.finding(Mono.just("found"))).value).isEqualTo("found");
		assertThat(this.node.start(unkept, this.order.finding(Mono.empty())).failure)
			.isInstanceOf(IdempotencyResultUnavailableException.class);
		assertThat(this.order.runs).hasValue(1);
	}

	@Test
	void resultThatCannotBeReadIsNotAvailable() {
		Claim claim = this.node.claimElsewhere(HOUR);
		this.node.memory.complete(Completion.result(claim, Fingerprint.NONE,
				new io.idempotency.store.StoredResult("newer", new byte[1]), Duration.ofHours(24)));
		assertThat(this.node.start(REPLAY, this.duplicate).failure)
			.isInstanceOf(IdempotencyResultUnavailableException.class);
	}

	@Test
	void businessDataThatSayDuplicateAreAsked() {
		IdempotencyOptions recoverable = REPLAY.change().recoverable(true).build();
		TextAction insert = new TextAction(Mono.error(new IllegalArgumentException("unique")))
			.duplicateOn(IllegalArgumentException.class)
			.finding(Mono.just("order-1"));
		assertThat(this.node.start(recoverable, insert).value).isEqualTo("order-1");
		assertThat(this.node.start(recoverable, this.duplicate).value).isEqualTo("order-1");
	}

	@Test
	void businessDataThatSayDuplicateAndHaveNothingAreNotAskedTwice() {
		TextAction insert = new TextAction(Mono.error(new IllegalArgumentException("unique")))
			.duplicateOn(IllegalArgumentException.class);
		assertThat(this.node.start(REPLAY, insert).failure).isInstanceOf(IdempotencyResultUnavailableException.class)
			.hasCauseInstanceOf(IllegalArgumentException.class);
		assertThat(this.node.state()).isEqualTo(State.RESULT_NOT_STORED);
	}

	@Test
	void failsWhenRecoverDoesNotFindTheResultOfADuplicate() {
		IllegalArgumentException failure = new IllegalArgumentException("overflow");
		TextAction insert = new TextAction(Mono.error(failure)).duplicateOn(IllegalArgumentException.class);
		IdempotencyOptions recoverable = REPLAY.change().recoverable(true).build();
		assertThat(this.node.start(recoverable, insert).failure).isSameAs(failure);
		assertThat(this.node.start(recoverable, this.order).value).isEqualTo("order-1");
	}

	/** The work may still act: a key that is free would let it run twice. */
	@Test
	void workThatHasTimedOutIsLeftToItsLease() {
		TextAction timeout = new TextAction(Mono.error(new TimeoutException("too slow")));
		assertThat(this.node.start(REPLAY, timeout).failure).isInstanceOf(TimeoutException.class);
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		this.node.time.advance(REPLAY.lease().plusSeconds(1));
		assertThat(this.node.state()).isEqualTo(State.ABANDONED);
	}

	@Test
	void completionThatFailsIsRepeatedAndTheCallerHasTheResult() {
		this.node.store.fail("complete", new IdempotencyStoreException("away"));
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(this.node.state()).isEqualTo(State.DONE);
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
	}

	@Test
	void releaseThatFailsIsRepeatedAndSuppressed() {
		IdempotencyStoreException away = new IdempotencyStoreException("away");
		this.node.store.fail("release", away);
		IllegalStateException failure = new IllegalStateException("no stock");
		assertThat(this.node.start(REPLAY, new TextAction(Mono.error(failure))).failure).isSameAs(failure)
			.hasSuppressedException(away);
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(this.node.state()).isNull();
	}

	@Test
	void completionOfALostClaimIsReported() {
		Client<String> first = this.node.start(REPLAY.change().renewal(false).build(), this.slow);
		this.node.time.advance(REPLAY.lease().plusSeconds(1));
		this.node.claimElsewhere(HOUR);
		this.gate.tryEmitValue("order-1");
		assertThat(first.value).isEqualTo("order-1");
		assertThat(this.node.events).contains(IdempotencyEvent.LEASE_LOST);
	}

	@Test
	void doorMayEndTheCallBeforeItsWork() {
		TextAction ended = new TextAction(this.gate.asMono());
		Client<String> caller = this.node.start(REPLAY, ended);
		Client<Void> written = Client.of(ended.claim.end(ended.returned("order-1", false)));
		assertThat(written.completed).isTrue();
		assertThat(this.node.state()).isEqualTo(State.DONE);
		this.gate.tryEmitEmpty();
		assertThat(caller.completed).isTrue();
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("claim", "complete", "find");
	}

	@Test
	void doorThatFailsToEncodeLeavesCompletionWithoutResult() {
		TextAction action = new TextAction(Mono.just("order-1"));
		ReactiveAction<String> broken = new ForwardingAction(action) {

			@Override
			public io.idempotency.engine.CallOutcome returned(String value, boolean recovered) {
				throw new IllegalStateException("no codec");
			}

		};
		Client<String> first = Client
			.of(this.node.reactive.execute(this.node.call(REPLAY), broken, OnDisconnect.CONTINUE));
		assertThat(first.value).isEqualTo("order-1");
		assertThat(this.node.state()).isEqualTo(State.RESULT_NOT_STORED);
	}

	@Test
	void contextIsInTheReactorContextAndThatOfTheCallerIsThere() {
		AtomicReference<String> assembled = new AtomicReference<>();
		TextAction seen = new TextAction(Mono.deferContextual((context) -> ReactiveIdempotencyContext.get()
			.doOnNext((call) -> call.retention(HOUR))
			.map((call) -> call.key() + " of " + context.get("user"))));
		ReactiveAction<String> action = new ForwardingAction(seen) {

			@Override
			public Mono<String> run() {
				assembled.set(IdempotencyContextHolder.get().key());
				return super.run();
			}

		};
		Client<String> caller = Client.of(
				this.node.reactive.execute(this.node.call(REPLAY), action, OnDisconnect.CONTINUE),
				Context.of("user", "alice"));
		assertThat(caller.value).isEqualTo("key-1 of alice");
		assertThat(assembled).hasValue("key-1");
		assertThat(IdempotencyContextHolder.get()).isNull();
		this.node.time.advance(HOUR.plusSeconds(1));
		assertThat(this.node.state()).isNull();
	}

	/** No timer would wake it up. */
	@Test
	void callWithinWorkThatOutlivesTheTimersDoesNotWait() {
		this.node.claimElsewhere(Duration.ofHours(1));
		Client<String> caller = Client
			.of(this.node.withinWorkThatOutlivesAll(this.node.guarded(ReactiveNode.WAIT, this.order)));
		assertThat(caller.failure).isInstanceOf(IdempotencyInProgressException.class);
	}

	@Test
	void closedEngineRejects() {
		this.node.engine.close();
		assertThat(this.node.start(REPLAY, this.order).failure)
			.isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(this.node.store.asked).isEmpty();
	}

}
