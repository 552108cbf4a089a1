package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * The engine's own threads, and its end.
 */
class EngineCloseTests {

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void threadsEndWithTheEngine() throws Throwable {
		await().until(() -> EngineThreads.alive().isEmpty());
		this.node.execute(this.policy, TestAction.returning("one"));
		assertThat(EngineThreads.alive()).isNotEmpty().allMatch(Thread::isDaemon);
		this.node.engine.close();
		this.node.ticker.close();
		await().until(() -> EngineThreads.alive().isEmpty());
		assertThat(this.node.log.events()).isEmpty();
	}

	@Test
	void engineThatIsOpenedAgainAndAgainHasNoMoreThreads() throws Throwable {
		await().until(() -> EngineThreads.alive().isEmpty());
		for (int i = 0; i < 5; i++) {
			callAfterAStart("call-" + i);
			// A thread that an engine leaves behind has the name of one of the next
			// engine.
			await().untilAsserted(() -> assertThat(EngineThreads.alive()).extracting(Thread::getName)
				.doesNotHaveDuplicates()
				.contains("idempotency-beats-1", "idempotency-timer-1"));
		}
	}

	/** A claim that is renewed, a future that ends, and a write that is repeated. */
	private void callAfterAStart(String key) throws Throwable {
		this.node.engine.close();
		this.node.engine.open();
		this.node.store.failBefore(Verb.COMPLETE, 1);
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> answer = call(key, TestAction.async(() -> work));
		work.complete("done");
		assertThat(answer.get()).isEqualTo("done");
		await().until(() -> this.node.engine.load().outstandingWrites() == 0);
	}

	@Test
	void writesThatAreOutstandingAreLogged() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		this.node.execute(this.policy, TestAction.returning("one"));
		this.node.engine.close(Duration.ofMillis(100));
		assertThat(this.node.log.messages(Level.WARN)).last()
			.asString()
			.contains("stopped with pending writes", "{orders.create=1}");
	}

	@Test
	void closeMayBeRepeated() throws Throwable {
		this.node.execute(this.policy, TestAction.returning("one"));
		this.node.engine.close();
		this.node.engine.close();
		assertThat(this.node.log.events()).isEmpty();
	}

	@Test
	void callThatOutlivesTheEngineIsCompleted() throws Throwable {
		String answer = this.node.execute(this.policy, TestAction.running(() -> {
			this.node.engine.close();
			return "one";
		}));
		assertThat(answer).isEqualTo("one");
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
	}

	@Test
	void callThatFailsAfterTheEngineIsReleased() {
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(this.policy, TestAction.running(() -> {
			this.node.engine.close();
			throw new IllegalStateException("method");
		})));
		assertThat(this.node.memory.size()).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callAfterTheEngineIsRejected(boolean proceeding) {
		this.node.engine.close();
		TestAction<String> action = TestAction.returning("one");
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.node.execute(proceeding ? this.policy.proceeding() : this.policy, action));
		assertThat(action.runs()).isZero();
		assertThat(this.node.store.sequence()).isEmpty();
		assertThat(this.node.events.count(IdempotencyEvent.STORE_UNAVAILABLE)).isOne();
	}

	/** Its rejection would end the work around it, after a part of that was done. */
	@Test
	void callThatOutlivesTheEngineMayCallGuardedMethods() throws Throwable {
		TestAction<String> inner = TestAction.returning("inner");
		String answer = this.node.execute(this.policy, TestAction.running(() -> {
			this.node.engine.close();
			return call("inner", inner);
		}));
		assertThat(answer).isEqualTo("inner");
		assertThat(inner.runs()).isOne();
		assertThat(this.node.events.count(IdempotencyEvent.STORE_UNAVAILABLE)).isZero();
	}

	@Test
	void engineThatIsOpenedAgainGuards() throws Throwable {
		this.node.engine.close();
		this.node.engine.open();
		assertThat(this.node.execute(this.policy, TestAction.returning("one"))).isEqualTo("one");
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("one");
	}

	@Test
	void engineThatIsOpenedAgainRepeatsItsWrites() throws Throwable {
		this.node.execute(this.policy, TestAction.returning("one"));
		this.node.engine.close();
		this.node.engine.open();
		this.node.clock.advance(Duration.ofDays(2));
		this.node.store.failBefore(Verb.COMPLETE, 1);
		this.node.execute(this.policy, TestAction.returning("two"));
		await().until(() -> this.node.askElsewhere(this.policy) instanceof ClaimResult.Completed);
	}

	@Test
	void whatTheStoreHasNotTakenIsSentWhenTheEngineIsOpenedAgain() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		String answer = this.node.execute(this.policy, TestAction.running(() -> {
			call("before the close", TestAction.returning("two"));
			this.node.engine.close(Duration.ofMillis(1));
			return "one";
		}));
		assertThat(answer).isEqualTo("one");
		this.node.store.heal();
		this.node.engine.open();
		await().until(() -> this.node.askElsewhere(this.policy) instanceof ClaimResult.Completed);
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 2);
		assertThat(this.node.engine.load().outstandingWrites()).isZero();
	}

	@Test
	void threadsThatAreTheEnginesOwnEndWithIt() throws Throwable {
		try (IdempotencyEngine own = new IdempotencyEngine(1, this.node.events)) {
			own.execute(new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(), this.node.memory),
					TestAction.returning("one"));
			assertThat(EngineThreads.alive()).isNotEmpty();
		}
		await().until(() -> EngineThreads.alive().isEmpty());
	}

	@Test
	void interruptOfTheCloseIsKept() {
		Thread.currentThread().interrupt();
		this.node.engine.close();
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void taskRunsAfterItsDelayOnAThreadThatMayBlock() {
		AtomicReference<@Nullable Thread> ran = new AtomicReference<>();
		this.node.engine.runAfter(Duration.ofMillis(1), () -> ran.set(Thread.currentThread()));
		await().until(() -> ran.get() != null);
		assertThat(ran.get().getName()).contains("results");
	}

	/** The end of a call may wait for it. */
	@Test
	void taskThatIsNotDueYetRunsAtTheCloseAndOnceOnly() {
		AtomicInteger runs = new AtomicInteger();
		this.node.engine.runAfter(Duration.ofDays(1), runs::incrementAndGet);
		assertThat(runs).hasValue(0);
		this.node.engine.close();
		assertThat(runs).hasValue(1);
		this.node.engine.runAfter(Duration.ofDays(1), runs::incrementAndGet);
		assertThat(runs).as("after the close").hasValue(2);
	}

	/** Each may have to wait for a store that does not answer. */
	@Test
	void tasksThatAreNotDoneDoNotHoldUpTheClose() {
		CountDownLatch answer = new CountDownLatch(1);
		AtomicInteger runs = new AtomicInteger();
		for (int i = 0; i < 10; i++) {
			this.node.engine.runAfter(Duration.ofDays(1), () -> {
				awaitLatch(answer);
				runs.incrementAndGet();
			});
		}
		Future<?> closing = this.node.submit(() -> {
			this.node.engine.close(Duration.ofMillis(1));
			return null;
		});
		try {
			await().until(closing::isDone);
		}
		finally {
			answer.countDown();
		}
		await().until(() -> runs.get() == 10);
	}

	private static void awaitLatch(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void taskThatFailsEndsNeitherTheCloseNorTheOthers() {
		AtomicInteger runs = new AtomicInteger();
		for (int i = 0; i < 10; i++) {
			this.node.engine.runAfter(Duration.ofDays(1), () -> {
				runs.incrementAndGet();
				throw new IllegalStateException("task");
			});
		}
		this.node.engine.close();
		assertThat(runs).hasValue(10);
	}

	@Test
	void writeThatFailsAfterTheEngineIsLeftToTheLeaseAndTheLogSaysSo() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 1);
		String answer = this.node.execute(this.policy, TestAction.running(() -> {
			this.node.engine.close();
			return "one";
		}));
		assertThat(answer).isEqualTo("one");
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
		assertThat(this.node.log.messages(Level.WARN))
			.anySatisfy((line) -> assertThat(line).contains("stays claimed until its lease expires"));
	}

	@Test
	void whatIsOutstandingIsWrittenAtTheEnd() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 20);
		this.node.store.failBefore(Verb.RELEASE, 10);
		for (int i = 0; i < 20; i++) {
			call("done-" + i, TestAction.returning("one"));
		}
		for (int i = 0; i < 10; i++) {
			String key = "failed-" + i;
			assertThatIllegalStateException()
				.isThrownBy(() -> call(key, TestAction.throwing(new IllegalStateException("method"))));
		}
		this.node.engine.close();
		assertThat(this.node.memory.size()).isEqualTo(20);
		assertThat(this.node.events.count(IdempotencyEvent.EXECUTED)).isEqualTo(20);
		assertThat(this.node.events.count(IdempotencyEvent.RELEASED)).isEqualTo(10);
		assertThat(this.node.log.messages(Level.WARN)).noneMatch((line) -> line.contains("Closed"));
	}

	@Test
	void futureThatIsDoneIsCompletedBeforeTheEnd() throws Throwable {
		ScriptedStore.Barrier completing = this.node.store.block(Verb.COMPLETE, Point.BEFORE);
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> answer = this.node.execute(this.policy, TestAction.async(() -> work));
		work.complete("one");
		completing.awaitReached();
		Future<?> closing = this.node.submit(() -> {
			this.node.engine.close();
			return null;
		});
		completing.open();
		closing.get();
		assertThat(answer.get()).isEqualTo("one");
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
	}

	private <T> T call(String key, TestAction<T> action) throws Throwable {
		IdempotencyKey id = IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, key);
		return this.node.engine.execute(new GuardedCall(id, Fingerprint.NONE, this.policy.build(), this.node.store),
				action);
	}

	@Test
	void beatThatIsInterruptedByTheEndOfTheEngineIsNoFailureOfTheStore() throws Throwable {
		ScriptedStore.Barrier beat = this.node.store.block(Verb.RENEW, Point.BEFORE);
		this.node.execute(this.policy.lease(Duration.ofMillis(60)), TestAction.running(() -> {
			beat.awaitReached();
			this.node.engine.close();
			this.node.ticker.close();
			await().pollInSameThread().until(() -> EngineThreads.alive().isEmpty());
			return "one";
		}));
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
		assertThat(this.node.log.events()).isEmpty();
	}

	@Test
	void threadsCarryNothingOfTheCallThatStartedThem() throws Throwable {
		InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
		AtomicReference<String> seen = new AtomicReference<>("nothing yet");
		AtomicReference<ClassLoader> loader = new AtomicReference<>();
		this.node.store.on(Verb.RENEW, Point.BEFORE, 1, () -> {
			seen.set(user.get());
			loader.set(Thread.currentThread().getContextClassLoader());
		});
		user.set("alice");
		ClassLoader callers = Thread.currentThread().getContextClassLoader();
		Thread.currentThread().setContextClassLoader(new ClassLoader(callers) {
		});
		try {
			this.node.execute(this.policy.lease(Duration.ofMillis(60)), TestAction.running(() -> {
				await().pollInSameThread().until(() -> this.node.store.count(Verb.RENEW) > 1);
				return "one";
			}));
		}
		finally {
			Thread.currentThread().setContextClassLoader(callers);
			user.remove();
		}
		assertThat(seen).hasValue(null);
		assertThat(loader).hasValue(IdempotencyEngine.class.getClassLoader());
	}

}
