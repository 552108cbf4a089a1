package io.idempotency.reactor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyRecord.State;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.StoreFailureMode;
import io.idempotency.engine.CallOutcome;
import io.idempotency.store.Claim;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.Namespace;
import io.idempotency.engine.GuardedCall;
import io.idempotency.engine.EngineRuntime.EngineLoad;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;
import org.reactivestreams.Subscription;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static io.idempotency.reactor.Client.await;

/** A caller that hangs up, at each point of its call. */
class HangUpTests {

	private static final IdempotencyOptions REPLAY = ReactiveNode.REPLAY;

	private static final IdempotencyOptions WAIT = ReactiveNode.WAIT;

	private static final int RACES = 500;

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
	void workWithoutACallerIsCountedAndTooMuchOfItRejectsNewCalls() {
		try (ReactiveNode bounded = new ReactiveNode(1)) {
			EngineLoad load = bounded.engine.load();
			Client<String> caller = Client
				.of(bounded.reactive.execute(bounded.call(REPLAY), this.slow, OnDisconnect.CONTINUE));
			assertThat(load.detachedCalls()).isZero();
			caller.hangUp();
			assertThat(load.detachedCalls()).isOne();
			bounded.store.asked.clear();
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(
					bounded.reactive.execute(bounded.call(REPLAY), this.duplicate, OnDisconnect.CONTINUE)::block);
			assertThat(bounded.store.asked).containsExactly("find");
			this.gate.tryEmitValue("order-1");
			assertThat(load.detachedCalls()).isZero();
			assertThat(bounded.reactive.execute(bounded.call(REPLAY), this.duplicate, OnDisconnect.CONTINUE).block())
				.isEqualTo("order-1");
		}
	}

	/** Giving it takes no place of the work. */
	@Test
	void resultThatIsKeptIsGivenWhateverGoesOn() {
		try (ReactiveNode bounded = new ReactiveNode(1)) {
			GuardedCall done = new GuardedCall(new Namespace("").key("done", Caller.GLOBAL, List.of("1")),
					Fingerprint.NONE, REPLAY, bounded.call(REPLAY).store());
			bounded.reactive.execute(done, this.order, OnDisconnect.CONTINUE).block();
			Client.of(bounded.reactive.execute(bounded.call(REPLAY), this.slow, OnDisconnect.CONTINUE)).hangUp();
			assertThat(bounded.engine.load().detachedCalls()).isOne();
			assertThat(bounded.reactive.execute(done, this.duplicate, OnDisconnect.CONTINUE).block())
				.isEqualTo("order-1");
			GuardedCall counted = new GuardedCall(done.key(), Fingerprint.NONE,
					REPLAY.change().mode(IdempotencyMode.REJECT).build(), done.store());
			bounded.store.fail("find", new IdempotencyStoreException("The store is away"));
			for (GuardedCall rejected : List.of(done, counted)) {
				assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
					.isThrownBy(bounded.reactive.execute(rejected, this.duplicate, OnDisconnect.CONTINUE)::block)
					.withMessageContaining("Too many detached calls")
					.satisfies((rejection) -> assertThat(rejection.retryAfter()).isPositive());
			}
			assertThat(bounded.engine.load().detachedCalls()).isOne();
		}
	}

	@Test
	void callsWithinGuardedWorkAreNotRejectedWhateverGoesOn() {
		try (ReactiveNode bounded = new ReactiveNode(1)) {
			GuardedCall inner = new GuardedCall(new Namespace("").key("inner", Caller.GLOBAL, List.of("1")),
					Fingerprint.NONE, REPLAY, bounded.call(REPLAY).store());
			TextAction outer = new TextAction(this.gate.asMono()
				.then(bounded.reactive.execute(inner, new TextAction(Mono.just("inner")), OnDisconnect.CONTINUE)));
			Client.of(bounded.reactive.execute(bounded.call(REPLAY), outer, OnDisconnect.CONTINUE)).hangUp();
			assertThat(bounded.engine.load().detachedCalls()).isOne();
			this.gate.tryEmitEmpty();
			assertThat(bounded.reactive.execute(bounded.call(REPLAY), this.duplicate, OnDisconnect.CONTINUE).block())
				.isEqualTo("inner");
		}
	}

	@Test
	void renewsTheClaimForTenMinutesAfterTheCallerIsGone() {
		Client<String> caller = this.node.start(REPLAY, this.slow, OnDisconnect.CONTINUE);
		this.node.time.advance(Duration.ofMinutes(20));
		caller.hangUp();
		this.node.time.advance(Duration.ofMinutes(9));
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		this.node.time.advance(Duration.ofMinutes(2));
		assertThat(this.node.state()).isEqualTo(State.ABANDONED);
		assertThat(this.node.engine.load().detachedCalls()).isZero();
		this.gate.tryEmitValue("order-1");
		assertThat(this.node.state()).isEqualTo(State.DONE);
	}

	@Test
	void workThatFailsOrIsCancelledWithoutACallerIsCountedNoLonger() {
		EngineLoad load = this.node.engine.load();
		this.node.start(REPLAY, this.slow, OnDisconnect.CONTINUE).hangUp();
		assertThat(load.detachedCalls()).isOne();
		this.gate.tryEmitError(new IllegalStateException("broken"));
		assertThat(load.detachedCalls()).isZero();
		this.node.start(REPLAY, new TextAction(Mono.never()), OnDisconnect.CANCEL).hangUp();
		assertThat(load.detachedCalls()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void beforeTheClaim(OnDisconnect onDisconnect) {
		this.node.reactive.execute(this.node.call(REPLAY), this.order, onDisconnect).subscribe(new BaseSubscriber<>() {

			@Override
			protected void hookOnSubscribe(Subscription subscription) {
				cancel();
			}

		});
		assertThat(this.node.store.asked).isEmpty();
		assertThat(this.order.runs).hasValue(0);
		assertThat(this.node.state()).isNull();
	}

	/** The claim is applied, and its caller does not hear of it. */
	@ParameterizedTest
	@EnumSource
	void inTheClaim(OnDisconnect onDisconnect) {
		GatedStore.Gate reply = this.node.store.holdReply("claim");
		Client<String> caller = this.node.start(REPLAY, this.order, onDisconnect);
		caller.hangUp();
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		reply.open();
		assertThat(this.node.state()).isNull();
		assertThat(this.node.store.cancelled).isEmpty();
		assertThat(this.node.store.asked).containsExactly("claim", "release");
		assertThat(this.order.runs).hasValue(0);
		assertThat(this.node.engine.load().runningClaims()).isZero();
	}

	@Test
	void inTheClaimWhoseReplyIsLost() {
		GatedStore.Gate reply = this.node.store.holdLostReply("claim");
		Client<String> caller = this.node.start(REPLAY, this.order);
		caller.hangUp();
		reply.open();
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		assertThat(this.node.store.asked).containsExactly("claim");
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(this.node.state()).isNull();
		assertThat(this.order.runs).hasValue(0);
	}

	/** Whoever is gone does not want it any more. */
	@Test
	void inTheClaimOfACallThatWouldRunUnguarded() {
		IdempotencyOptions proceed = REPLAY.change().onStoreFailure(StoreFailureMode.PROCEED).build();
		GatedStore.Gate reply = this.node.store.holdFailure("claim",
				new StoreNotReachedException("no connection", new IllegalStateException()));
		Client<String> caller = this.node.start(proceed, this.order);
		caller.hangUp();
		reply.open();
		assertThat(this.order.runs).hasValue(0);
	}

	/**
	 * Nobody would end what was never subscribed to, and each close would wait for it.
	 */
	@Test
	void whileUnguardedWorkIsPutTogether() {
		IdempotencyOptions proceed = REPLAY.change().onStoreFailure(StoreFailureMode.PROCEED).build();
		this.node.store.fail("claim", new StoreNotReachedException("no connection", new IllegalStateException()));
		Client<String> caller = new Client<>(Context.empty());
		this.node.reactive.execute(this.node.call(proceed), new ForwardingAction(this.order) {

			@Override
			public Mono<String> run() {
				caller.hangUp();
				return super.run();
			}

		}, OnDisconnect.CANCEL).subscribe(caller);
		assertThat(this.order.runs).hasValue(0);
		assertThatNobodyWaitsForWork();
	}

	/** Reactor throws such an error at whoever subscribes. */
	@Test
	void errorOfTheJvmInUnguardedWorkEndsIt() {
		IdempotencyOptions proceed = REPLAY.change().onStoreFailure(StoreFailureMode.PROCEED).build();
		this.node.store.fail("claim", new StoreNotReachedException("no connection", new IllegalStateException()));
		NoClassDefFoundError missing = new NoClassDefFoundError("It is missing on purpose");
		Client<String> caller = this.node.start(proceed, new TextAction(Mono.fromSupplier(() -> {
			throw missing;
		})));
		assertThat(caller.failure).isSameAs(missing);
		assertThatNobodyWaitsForWork();
	}

	private void assertThatNobodyWaitsForWork() {
		this.node.engine.close(Duration.ofSeconds(30));
		assertThat(this.node.time.waits).isZero();
	}

	@Test
	void inTheRenewalBeforeTheWork() {
		GatedStore.Gate reply = this.node.store.holdReply("claim");
		GatedStore.Gate renewal = this.node.store.holdReply("renew");
		Client<String> caller = this.node.start(REPLAY, this.order);
		this.node.time.advance(REPLAY.lease().dividedBy(2));
		reply.open();
		caller.hangUp();
		renewal.open();
		assertThat(this.node.state()).isNull();
		assertThat(this.order.runs).hasValue(0);
	}

	@Test
	void inTheWorkThatGoesOn() {
		Client<String> caller = this.node.start(REPLAY, this.slow);
		caller.hangUp();
		assertThat(this.slow.cancelled).hasValue(0);
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		this.node.time.advance(REPLAY.lease().multipliedBy(2));
		this.gate.tryEmitValue("order-1");
		assertThat(this.node.state()).isEqualTo(State.DONE);
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
		assertThat(caller.isAnswered()).isFalse();
	}

	@Test
	void inTheWorkThatGoesOnAndFails() {
		Client<String> caller = this.node.start(REPLAY, this.slow);
		caller.hangUp();
		this.gate.tryEmitError(new IllegalStateException("no stock"));
		assertThat(this.node.state()).isNull();
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
	}

	@Test
	void inTheWorkThatIsCancelled() {
		Client<String> caller = this.node.start(REPLAY, this.slow, OnDisconnect.CANCEL);
		caller.hangUp();
		assertThat(this.slow.cancelled).hasValue(1);
		this.gate.tryEmitValue("order-1");
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		// Nobody renews it: who comes after the lease takes it over.
		assertThat(this.node.engine.load().runningClaims()).isZero();
		this.node.time.advance(REPLAY.lease().plusSeconds(1));
		assertThat(this.node.state()).isEqualTo(State.ABANDONED);
	}

	@Test
	void doorSaysWhatACancelledWorkMeans() {
		ReactiveAction<String> harmless = new ForwardingAction(this.slow) {

			@Override
			public CallOutcome gaveUp(Throwable failure) {
				assertThat(failure).isInstanceOf(CancellationException.class);
				return new CallOutcome.NotRun(failure);
			}

		};
		Client<String> caller = Client
			.of(this.node.reactive.execute(this.node.call(REPLAY), harmless, OnDisconnect.CANCEL));
		caller.hangUp();
		assertThat(this.node.state()).isNull();
	}

	@Test
	void inTheLookUpBeforeTheWorkThatIsCancelled() {
		this.node.claimElsewhere(Duration.ofSeconds(5));
		this.node.time.advance(Duration.ofSeconds(6));
		Sinks.One<String> found = Sinks.one();
		IdempotencyOptions recoverable = REPLAY.change().recoverable(true).build();
		Client<String> caller = this.node.start(recoverable, this.order.finding(found.asMono()), OnDisconnect.CANCEL);
		caller.hangUp();
		found.tryEmitEmpty();
		assertThat(this.order.runs).hasValue(0);
		assertThat(this.node.state()).isEqualTo(State.ABANDONED);
	}

	@ParameterizedTest
	@EnumSource
	void inTheCompletion(OnDisconnect onDisconnect) {
		GatedStore.Gate reply = this.node.store.holdRequest("complete");
		Client<String> caller = this.node.start(REPLAY, this.order, onDisconnect);
		caller.hangUp();
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		reply.open();
		assertThat(this.node.state()).isEqualTo(State.DONE);
		assertThat(this.node.store.cancelled).isEmpty();
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
	}

	@ParameterizedTest
	@EnumSource
	void inTheCompletionThatIsWritten(OnDisconnect onDisconnect) {
		GatedStore.Gate reply = this.node.store.holdReply("complete");
		Client<String> caller = this.node.start(REPLAY, this.order, onDisconnect);
		caller.hangUp();
		assertThat(this.node.state()).isEqualTo(State.DONE);
		reply.open();
		assertThat(this.node.store.asked).containsExactly("claim", "complete");
		assertThat(this.node.store.cancelled).isEmpty();
		assertThat(this.node.engine.load().runningClaims()).isZero();
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
	}

	/** Nobody waits for it, and it is repeated all the same. */
	@ParameterizedTest
	@EnumSource
	void inTheCompletionThatFails(OnDisconnect onDisconnect) {
		GatedStore.Gate reply = this.node.store.holdFailure("complete",
				new StoreNotReachedException("no connection", new IllegalStateException()));
		Client<String> caller = this.node.start(REPLAY, this.order, onDisconnect);
		caller.hangUp();
		reply.open();
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(this.node.state()).isEqualTo(State.DONE);
		assertThat(this.node.start(REPLAY, this.duplicate).value).isEqualTo("order-1");
	}

	@ParameterizedTest
	@EnumSource
	void inTheReleaseAfterAFailure(OnDisconnect onDisconnect) {
		GatedStore.Gate reply = this.node.store.holdRequest("release");
		Client<String> caller = this.node.start(REPLAY,
				new TextAction(Mono.error(new IllegalStateException("no stock"))), onDisconnect);
		caller.hangUp();
		assertThat(this.node.state()).isEqualTo(State.RUNNING);
		reply.open();
		assertThat(this.node.state()).isNull();
		assertThat(this.node.store.cancelled).isEmpty();
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
	}

	/** Whoever is first by a hair: nothing has run if the key is free. */
	@ParameterizedTest
	@EnumSource
	void asTheClaimIsGranted(OnDisconnect onDisconnect) throws Exception {
		for (int round = 0; round < RACES; round++) {
			try (ReactiveNode fresh = new ReactiveNode()) {
				TextAction work = new TextAction(Mono.just("order-1"));
				GatedStore.Gate reply = fresh.store.holdReply("claim");
				race(round, reply, fresh.start(REPLAY, work, onDisconnect));
				// What was cancelled is left to its lease.
				if (onDisconnect == OnDisconnect.CONTINUE || fresh.state() != State.RUNNING) {
					assertThat(fresh.state()).as("round %s", round)
						.isEqualTo((work.runs.get() == 1) ? State.DONE : null);
				}
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void asTheCompletionIsWritten(OnDisconnect onDisconnect) throws Exception {
		for (int round = 0; round < RACES; round++) {
			try (ReactiveNode fresh = new ReactiveNode()) {
				GatedStore.Gate reply = fresh.store.holdRequest("complete");
				race(round, reply, fresh.start(REPLAY, this.order, onDisconnect));
				assertThat(fresh.state()).as("round %s", round).isEqualTo(State.DONE);
			}
		}
	}

	/** Two threads at once, in each round with another lead. */
	private static void race(int round, GatedStore.Gate reply, Client<String> caller) throws Exception {
		AtomicBoolean ready = new AtomicBoolean();
		CompletableFuture<Void> hungUp = CompletableFuture.runAsync(() -> {
			ready.set(true);
			spin(round % 50);
			caller.hangUp();
		});
		while (!ready.get()) {
			Thread.onSpinWait();
		}
		spin(50 - round % 50);
		reply.open();
		hungUp.get();
	}

	private static void spin(int times) {
		for (int i = 0; i < times * 10; i++) {
			Thread.onSpinWait();
		}
	}

	/** A cancel after the success is usual: {@code Mono.next} does it, too. */
	@ParameterizedTest
	@EnumSource
	void afterTheAnswer(OnDisconnect onDisconnect) {
		Client<String> caller = this.node.start(REPLAY, this.order, onDisconnect);
		assertThat(caller.value).isEqualTo("order-1");
		caller.hangUp();
		assertThat(this.node.state()).isEqualTo(State.DONE);
		assertThat(this.node.events).containsExactly(IdempotencyEvent.EXECUTED);
	}

	@ParameterizedTest
	@EnumSource
	void whileItWaits(OnDisconnect onDisconnect) {
		Claim claim = this.node.claimElsewhere(Duration.ofHours(1));
		Client<String> first = this.node.start(WAIT, this.duplicate, onDisconnect);
		Client<String> second = this.node.start(WAIT, this.duplicate, onDisconnect);
		first.hangUp();
		assertThat(this.node.engine.load().waiters()).isOne();
		// The turn to ask the store was the first one's.
		this.node.memory
			.complete(Completion.result(claim, Fingerprint.NONE, TextAction.text("=order-1"), Duration.ofHours(24)));
		this.node.time.advance(Duration.ofSeconds(1));
		assertThat(second.value).isEqualTo("order-1");
		assertThat(first.isAnswered()).isFalse();
		assertThat(this.node.engine.load().waiters()).isZero();
		assertThat(this.node.time.timers()).isZero();
	}

	@Test
	void whileItAsksAgain() {
		this.node.claimElsewhere(Duration.ofSeconds(5));
		Client<String> waiting = this.node.start(WAIT, this.order);
		GatedStore.Gate reply = this.node.store.holdReply("claim");
		this.node.time.advance(Duration.ofSeconds(1));
		waiting.hangUp();
		reply.open();
		assertThat(this.node.engine.load().waiters()).isZero();
		assertThat(this.order.runs).hasValue(0);
		this.node.time.advance(Duration.ofSeconds(10));
		assertThat(this.node.time.timers()).isZero();
	}

	/** The web server is gone by then, so nobody else waits for the work. */
	@Test
	void closeWaitsForTheWorkThatGoesOn() throws Exception {
		Scheduler system = Scheduler.system();
		IdempotencyEngine engine = new IdempotencyEngine(10, (event, operation) -> {
		}, system, () -> null);
		try (ReactiveIdempotencyEngine reactive = new ReactiveIdempotencyEngine(engine, List.of())) {
			GuardedCall call = this.node.call(REPLAY);
			Client<String> caller = Client.of(reactive.execute(call, this.slow, OnDisconnect.CONTINUE));
			caller.hangUp();
			CountDownLatch closed = new CountDownLatch(1);
			Thread closing = new Thread(() -> {
				engine.close(Duration.ofMinutes(4));
				closed.countDown();
			});
			closing.start();
			await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
			assertThat(closed.getCount()).isOne();
			this.gate.tryEmitValue("order-1");
			assertThat(closed.await(60, TimeUnit.SECONDS)).isTrue();
			assertThat(this.node.state()).isEqualTo(State.DONE);
		}
		finally {
			system.close();
		}
	}

}
