package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Level;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.store.ClaimResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * The engine's own threads, and its end.
 */
@Timeout(60)
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
		this.node.execute(this.policy, TestDoor.returning("one"));
		assertThat(EngineThreads.alive()).isNotEmpty().allMatch(Thread::isDaemon);
		this.node.engine.close();
		await().until(() -> EngineThreads.alive().isEmpty());
		assertThat(this.node.log.events()).isEmpty();
	}

	@Test
	void writesThatAreOutstandingAreLogged() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, ScriptedStore.ALWAYS);
		this.node.execute(this.policy, TestDoor.returning("one"));
		this.node.engine.close();
		assertThat(this.node.log.messages(Level.WARN)).last()
			.asString()
			.contains("Closed with 1 writes to the store outstanding");
	}

	@Test
	void closeMayBeRepeated() throws Throwable {
		this.node.execute(this.policy, TestDoor.returning("one"));
		this.node.engine.close();
		this.node.engine.close();
		assertThat(this.node.log.events()).isEmpty();
	}

	@Test
	void callThatOutlivesTheEngineIsCompleted() throws Throwable {
		String answer = this.node.execute(this.policy, TestDoor.running(() -> {
			this.node.engine.close();
			return "one";
		}));
		assertThat(answer).isEqualTo("one");
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
	}

	@Test
	void callThatFailsAfterTheEngineIsReleased() {
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(this.policy, TestDoor.running(() -> {
			this.node.engine.close();
			throw new IllegalStateException("method");
		})));
		assertThat(this.node.memory.size()).isZero();
	}

	@Test
	void callAfterTheEngineIsStillGuarded() throws Throwable {
		this.node.engine.close();
		assertThat(this.node.execute(this.policy, TestDoor.returning("one"))).isEqualTo("one");
		assertThat(this.node.execute(this.policy, TestDoor.returning("two"))).isEqualTo("one");
	}

	@Test
	void writeThatFailsAfterTheEngineIsLeftToTheLease() throws Throwable {
		this.node.engine.close();
		this.node.store.failBefore(Verb.COMPLETE, 1);
		assertThat(this.node.execute(this.policy, TestDoor.returning("one"))).isEqualTo("one");
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.InProgress.class);
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
			this.node.execute(this.policy.lease(Duration.ofMillis(60)), TestDoor.running(() -> {
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
