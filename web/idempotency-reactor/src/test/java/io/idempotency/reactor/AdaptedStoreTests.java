package io.idempotency.reactor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Fingerprint;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static io.idempotency.reactor.Client.await;

/** Stores that block, for callers that must not. */
class AdaptedStoreTests {

	private static final ClaimRequest CLAIM = ClaimRequest.of(ReactiveNode.KEY, Duration.ofMinutes(1),
			Duration.ofHours(1));

	private static final Scheduler NO_THREADS = new Scheduler() {

		@Override
		public Disposable schedule(Runnable task) {
			throw new OutOfMemoryError("unable to create native thread");
		}

		@Override
		public Worker createWorker() {
			throw new UnsupportedOperationException();
		}

	};

	private final SlowStore slow = new SlowStore(new MemoryIdempotencyStore(1_000_000));

	private final IdempotencyEngine engine = new IdempotencyEngine(10, (event, operation) -> {
	});

	private final ReactiveIdempotencyEngine reactive = new ReactiveIdempotencyEngine(this.engine, List.of());

	@AfterEach
	void close() {
		this.slow.gate.countDown();
		this.engine.close(Duration.ofSeconds(1));
		this.reactive.close();
	}

	@Test
	void storeThatBlocksIsAskedOnThreadsOfItsOwnAndTheCallGoesOnElsewhere() {
		this.slow.gate.countDown();
		AtomicReference<String> worker = new AtomicReference<>();
		TextAction action = new TextAction(
				Mono.fromSupplier(() -> worker.updateAndGet((before) -> Thread.currentThread().getName())));
		guarded(this.slow, action).block(Duration.ofSeconds(60));
		assertThat(this.slow.thread).startsWith("idempotency-store-");
		assertThat(worker.get()).startsWith("parallel-");
	}

	@Test
	void memoryIsAskedAtOnce() {
		AtomicReference<String> worker = new AtomicReference<>();
		TextAction action = new TextAction(
				Mono.fromSupplier(() -> worker.updateAndGet((before) -> Thread.currentThread().getName())));
		MemoryIdempotencyStore memory = new MemoryIdempotencyStore(1_000_000);
		assertThat(Client.of(guarded(memory, action)).completed).isTrue();
		assertThat(worker).hasValue(Thread.currentThread().getName());
	}

	@Test
	void storeThatNeedsThreadsIsNamedOnce() {
		Logger logger = (Logger) LoggerFactory.getLogger(ReactiveIdempotencyEngine.class);
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		logger.addAppender(log);
		try {
			ReactiveIdempotencyStore first = this.reactive.store(this.slow);
			assertThat(this.reactive.store(this.slow)).isSameAs(first);
			this.reactive.store(new MemoryIdempotencyStore(1_000_000));
			assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage)
				.containsExactly(
						"Store SlowStore blocks, so non-blocking calls use it on at most 32 dedicated threads");
		}
		finally {
			logger.detachAppender(log);
		}
	}

	/** A store that is interrupted may have applied the step, or lose its connection. */
	@Test
	void stepIsNotInterruptedWhenItsSubscriptionIsCancelled() {
		ReactiveIdempotencyStore store = this.reactive.store(this.slow);
		Client<ClaimResult> caller = Client.of(store.claim(CLAIM));
		await().until(() -> this.slow.thread != null);
		caller.hangUp();
		this.slow.gate.countDown();
		await().until(() -> this.slow.done.get());
		assertThat(this.slow.interrupted).isFalse();
	}

	@Test
	void stepForWhichThereIsNoRoomHasNotLeft() {
		Scheduler one = Schedulers.newBoundedElastic(1, 1, "narrow");
		try {
			AdaptedStore store = new AdaptedStore(this.slow, one, Schedulers.immediate());
			Client<ClaimResult> running = Client.of(store.claim(CLAIM));
			await().until(() -> this.slow.thread != null);
			Client<ClaimResult> queued = Client.of(store.claim(CLAIM));
			Client<ClaimResult> rejected = Client.of(store.claim(CLAIM));
			assertThat(rejected.failure).isInstanceOf(StoreNotReachedException.class)
				.hasMessage("All threads of SlowStore are busy");
			this.slow.gate.countDown();
			await().until(() -> running.isAnswered() && queued.isAnswered());
			assertThat(running.value).isInstanceOf(ClaimResult.Acquired.class);
		}
		finally {
			one.dispose();
		}
	}

	/** What a full container says, which Reactor takes for the end of the JVM. */
	@Test
	void systemWithoutThreadsRejectsACall() {
		AdaptedStore store = new AdaptedStore(this.slow, NO_THREADS, Schedulers.immediate());
		assertThat(Client.of(store.claim(CLAIM)).failure).isInstanceOf(StoreNotReachedException.class)
			.hasRootCauseInstanceOf(OutOfMemoryError.class);
	}

	@Test
	void waiterGoesOnWhereTheSystemHasNoThreads() {
		try (ReactiveNode node = new ReactiveNode();
				ReactiveIdempotencyEngine engine = new ReactiveIdempotencyEngine(node.engine, List.of(node.store),
						NO_THREADS)) {
			node.claimElsewhere(Duration.ofSeconds(5));
			Client<String> waiting = Client.of(engine.execute(node.call(ReactiveNode.WAIT),
					new TextAction(Mono.just("order-1")), OnDisconnect.CONTINUE));
			node.time.advance(Duration.ofSeconds(6));
			assertThat(waiting.value).isEqualTo("order-1");
		}
	}

	private Mono<String> guarded(IdempotencyStore store, TextAction action) {
		GuardedCall call = new GuardedCall(ReactiveNode.KEY, Fingerprint.NONE, ReactiveNode.REPLAY, store);
		return this.reactive.execute(call, action, OnDisconnect.CONTINUE);
	}

	/** Waits in its claims. */
	private static final class SlowStore extends ForwardingIdempotencyStore {

		private final CountDownLatch gate = new CountDownLatch(1);

		private final AtomicBoolean done = new AtomicBoolean();

		private volatile String thread;

		private volatile boolean interrupted;

		SlowStore(IdempotencyStore store) {
			super(store);
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			this.thread = Thread.currentThread().getName();
			try {
				this.gate.await();
			}
			catch (InterruptedException ex) {
				this.interrupted = true;
			}
			ClaimResult result = super.claim(request);
			this.done.set(true);
			return result;
		}

	}

}
