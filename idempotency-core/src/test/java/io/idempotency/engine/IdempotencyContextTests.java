package io.idempotency.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.slf4j.MDC;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * What the guarded method may know and say about its own call.
 */
class IdempotencyContextTests {

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void contextKnowsKeyOperationAndFence() throws Throwable {
		String answer = this.node.execute(this.policy, TestAction.running(() -> {
			IdempotencyContext context = current();
			assertThat(context.key()).isEqualTo("key-1");
			assertThat(context.operation()).isEqualTo(TestPolicy.OPERATION);
			assertThat(context.fencingToken()).isPositive();
			return "one";
		}));
		assertThat(answer).isEqualTo("one");
		assertThat(IdempotencyContext.current()).isEmpty();
	}

	@Test
	void mdcHasOperationAndRecordWhileTheMethodRuns() throws Throwable {
		String seen = this.node.execute(this.policy,
				TestAction.running(() -> MDC.get("idempotency.operation") + " " + MDC.get("idempotency.record")));
		assertThat(seen).isEqualTo(TestPolicy.OPERATION + " " + EngineFixture.KEY.hashHex());
		assertThat(MDC.get("idempotency.operation")).isNull();
		assertThat(MDC.get("idempotency.record")).isNull();
	}

	@Test
	void fenceGrowsWithEveryClaimOfTheKey() throws Throwable {
		AtomicReference<Long> first = new AtomicReference<>();
		catchThrowable(() -> this.node.execute(this.policy, TestAction.running(() -> {
			first.set(current().fencingToken());
			throw new IOException();
		})));
		this.node.execute(this.policy, TestAction.running(() -> {
			assertThat(current().fencingToken()).isGreaterThan(first.get());
			return "two";
		}));
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED, IdempotencyEvent.EXECUTED);
	}

	@Test
	void contextIsGoneAfterAFailureAndOnAReplay() throws Throwable {
		catchThrowable(() -> this.node.execute(this.policy, TestAction.throwing(new IOException())));
		assertThat(IdempotencyContext.current()).isEmpty();
		this.node.execute(this.policy, TestAction.returning("one"));
		this.node.execute(this.policy, TestAction.returning("two"));
		assertThat(IdempotencyContext.current()).isEmpty();
	}

	@Test
	void innermostOfNestedCallsIsCurrent() throws Throwable {
		IdempotencyKey inner = IdempotencyKey.of("inner", Caller.GLOBAL, "key-2");
		this.node.execute(this.policy, TestAction.running(() -> {
			this.node.engine.execute(
					new GuardedCall(inner, Fingerprint.NONE, this.policy.operation("inner").build(), this.node.store),
					TestAction.running(() -> {
						assertThat(current().operation()).isEqualTo("inner");
						return "inner";
					}));
			assertThat(current().operation()).isEqualTo(TestPolicy.OPERATION);
			return "outer";
		}));
		assertThat(this.node.events.operations()).containsExactly("inner", TestPolicy.OPERATION);
	}

	@Test
	void retentionOfThisResultIsAnother() throws Throwable {
		this.node.execute(this.policy, TestAction.running(() -> {
			current().retention(Duration.ofMinutes(1));
			return "one";
		}));
		this.node.clock.advance(Duration.ofMinutes(1).minusMillis(1));
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
		this.node.clock.advance(Duration.ofMillis(1));
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Acquired.class);
	}

	@Test
	void retentionOfATombstoneIsAnother() throws Throwable {
		this.node.execute(this.policy, TestAction.running(() -> {
			current().retention(Duration.ofDays(7));
			return new Object();
		}));
		this.node.clock.advance(Duration.ofDays(6));
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
	}

	@Test
	void retentionMustBePositive() throws Throwable {
		this.node.execute(this.policy, TestAction.running(() -> {
			assertThatIllegalArgumentException().isThrownBy(() -> current().retention(Duration.ZERO));
			assertThatIllegalArgumentException().isThrownBy(() -> current().retention(Duration.ofSeconds(-1)));
			return "one";
		}));
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.Completed.class);
	}

	@Test
	void releaseKeepsNoResultSoThatTheNextCallRuns() throws Throwable {
		String answer = this.node.execute(this.policy, TestAction.running(() -> {
			current().releaseKey();
			return "one";
		}));
		assertThat(answer).isEqualTo("one");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RELEASE);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void releaseThatFailsIsRepeatedAndTheCallerHasHisResult() throws Throwable {
		this.node.store.failBefore(Verb.RELEASE, 1);
		String answer = this.node.execute(this.policy, TestAction.running(() -> {
			current().releaseKey();
			return "one";
		}));
		assertThat(answer).isEqualTo("one");
		await().until(() -> this.node.memory.size() == 0);
	}

	@Test
	void releaseWinsOverRemember() throws Throwable {
		catchThrowable(() -> this.node.execute(this.policy.remembering(), TestAction.running(() -> {
			current().releaseKey();
			throw new IOException();
		})));
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void rejectIsReleasedOnRequest() throws Throwable {
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT);
		this.node.execute(reject, TestAction.running(() -> {
			current().releaseKey();
			return "one";
		}));
		assertThat(this.node.execute(reject, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void successThatIsNotKeptDoesNotWashADeadOwnerAway() throws Throwable {
		this.node.claimElsewhere(this.policy);
		this.node.clock.advance(Duration.ofSeconds(30));
		this.node.execute(this.policy, TestAction.running(() -> {
			current().releaseKey();
			return "one";
		}));
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.TAKEN_OVER);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOfSatisfying(ClaimResult.Acquired.class,
				(acquired) -> assertThat(acquired.claim().abandoned()).isTrue());
	}

	@Test
	void contextChangesNothingOnceTheCallHasEnded() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 1);
		AtomicReference<IdempotencyContext> escaped = new AtomicReference<>();
		this.node.execute(this.policy, TestAction.running(() -> {
			escaped.set(current());
			return "one";
		}));
		escaped.get().releaseKey();
		escaped.get().retention(Duration.ofNanos(1));
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 1);
		this.node.clock.advance(Duration.ofHours(23));
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("one");
	}

	private static IdempotencyContext current() {
		return IdempotencyContext.current().orElseThrow();
	}

}
