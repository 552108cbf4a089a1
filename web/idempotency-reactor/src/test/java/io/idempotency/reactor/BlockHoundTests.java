package io.idempotency.reactor;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import reactor.blockhound.BlockHound;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;

/** Nothing blocks a thread that must not be blocked. */
@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "BlockHound does not name newer ones")
class BlockHoundTests {

	private static final List<Throwable> FOUND = new CopyOnWriteArrayList<>();

	@BeforeAll
	static void install() {
		BlockHound.builder()
			.loadIntegrations()
			.blockingMethodCallback((method) -> found(new AssertionError(method.toString())))
			.install();
	}

	/** A thread that was there before may be found while it waits for its next task. */
	private static void found(AssertionError blocked) {
		if (Stream.of(blocked.getStackTrace()).noneMatch((frame) -> frame.getMethodName().equals("getTask"))) {
			FOUND.add(blocked);
		}
	}

	@BeforeEach
	void forget() {
		FOUND.clear();
	}

	/** Without this one, the other test would show nothing. */
	@Test
	void blockingCallIsFound() {
		Mono.fromRunnable(() -> {
			try {
				new CountDownLatch(1).await(1, TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}).subscribeOn(Schedulers.parallel()).block(Duration.ofSeconds(60));
		assertThat(FOUND).isNotEmpty();
	}

	@Test
	void guardedCallsDoNotBlock() {
		MemoryIdempotencyStore memory = new MemoryIdempotencyStore(64_000_000);
		IdempotencyEngine engine = new IdempotencyEngine(10_000, (event, operation) -> {
		});
		ReactiveIdempotencyEngine reactive = new ReactiveIdempotencyEngine(engine, List.of());
		try {
			for (IdempotencyStore store : List.of(memory, new BlockingStore(memory))) {
				run(reactive, store);
			}
			assertThat(FOUND).map(BlockHoundTests::stack).isEmpty();
		}
		finally {
			engine.close(Duration.ofSeconds(1));
			reactive.close();
		}
	}

	private static String stack(Throwable found) {
		StringWriter stack = new StringWriter();
		found.printStackTrace(new PrintWriter(stack));
		return stack.toString();
	}

	/** Runs, failures, replays and waits. */
	private static void run(ReactiveIdempotencyEngine reactive, IdempotencyStore store) {
		IdempotencyOptions policy = IdempotencyOptions.DEFAULTS.change()
			.operation(store.getClass().getSimpleName())
			.conflict(ConflictMode.WAIT)
			.waitTimeout(Duration.ofMinutes(1))
			.build();
		reactive.store(store);
		Flux.fromStream(IntStream.range(0, 400).boxed()).flatMap((i) -> {
			IdempotencyKey key = IdempotencyKey.of(policy.operation(), Caller.GLOBAL, "key-" + i % 40);
			Mono<String> work = Mono.delay(Duration.ofMillis(5)).thenReturn("order");
			TextAction action = new TextAction(
					(i % 7 == 0) ? work.then(Mono.error(new IllegalStateException())) : work);
			return reactive
				.execute(new GuardedCall(key, Fingerprint.NONE, policy, store), action, OnDisconnect.CONTINUE)
				.subscribeOn(Schedulers.parallel())
				.onErrorReturn(IllegalStateException.class, "failed");
		}, 400).collectList().block(Duration.ofSeconds(120));
	}

	/** Blocks before each step. */
	private static final class BlockingStore extends ForwardingIdempotencyStore {

		private final IdempotencyStore store;

		BlockingStore(IdempotencyStore store) {
			super(store);
			this.store = store;
		}

		@Override
		protected IdempotencyStore delegate() {
			try {
				new CountDownLatch(1).await(1, TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			return this.store;
		}

	}

}
