package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Operations whose results are not kept: done is all that a store is told. */
class UnkeptResultTests {

	private final EngineFixture node = new EngineFixture();

	private final TestPolicy policy = TestPolicy.replay().unkept();

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void callThatIsDoneIsATombstoneAndItsDuplicateIsRejected() throws Throwable {
		assertThat(this.node.execute(this.policy, TestAction.returning("one"))).isEqualTo("one");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
		TestAction<String> duplicate = TestAction.returning("two");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, duplicate));
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RESULT_NOT_STORED,
				IdempotencyEvent.EXECUTED, IdempotencyEvent.RESULT_UNAVAILABLE);
		assertThat(this.node.log.events()).isEmpty();
	}

	@Test
	void resultIsNotEvenEncoded() throws Throwable {
		Object cannotBeEncoded = new Object();
		assertThat(this.node.execute(this.policy, TestAction.returning(cannotBeEncoded))).isSameAs(cannotBeEncoded);
		assertThat(this.node.log.events()).isEmpty();
	}

	@Test
	void duplicateGetsWhatTheBusinessDataSay() throws Throwable {
		this.node.execute(this.policy, TestAction.returning("one"));
		TestAction<String> duplicate = TestAction.returning("two").recovering(() -> "found");
		assertThat(this.node.execute(this.policy.recoverable(), duplicate)).isEqualTo("found");
		assertThat(duplicate.runs()).isZero();
	}

	@Test
	void whatIsRecoveredForADeadOwnerIsNotKeptEither() throws Throwable {
		this.node.claimElsewhere(this.policy);
		this.node.clock.advance(Duration.ofMinutes(1));
		TestAction<String> successor = TestAction.returning("two").recovering(() -> "found");
		assertThat(this.node.execute(this.policy.recoverable(), successor)).isEqualTo("found");
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
	}

	@Test
	void failureThatTheDefaultWouldRememberIsDoneAndNotKept() {
		TestPolicy remembering = this.policy.remembering();
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.execute(remembering, TestAction.throwing(new IllegalStateException("secret"))));
		TestAction<String> duplicate = TestAction.returning("two");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(remembering, duplicate));
		assertThat(duplicate.runs()).isZero();
	}

	@Test
	void failureReleasesItsKey() throws Throwable {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.node.execute(this.policy, TestAction.throwing(new IllegalStateException("failed"))));
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void commitIsATombstoneAtOnceWhereTheAnswerIsMadeAfterIt() throws Throwable {
		CompletableFuture<CallOutcome> answer = new CompletableFuture<>();
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(), this.node.store);
		this.node.engine.execute(call, new EndedAction(new CallOutcome.Deferred(answer)), new TestTransactions());
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
		answer.complete(new CallOutcome.Done(() -> EngineFixture.text("secret")));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RESULT_NOT_STORED,
				IdempotencyEvent.EXECUTED);
	}

	@Test
	void answerThatFailedIsNoLostResultWhereNoneIsKept() throws Throwable {
		this.node.execute(this.policy, unrendered());
		this.node.clock.advance(Duration.ofDays(2));
		this.node.execute(TestPolicy.mode(IdempotencyMode.REJECT).operation("rejecting"), unrendered());
		assertThat(this.node.log.messages(Level.WARN)).isEmpty();
	}

	@Test
	void resultThatIsLostForOneCauseIsToldOnce() throws Throwable {
		for (int i = 0; i < 3; i++) {
			this.node.execute(TestPolicy.replay(), unrendered());
			this.node.clock.advance(Duration.ofDays(2));
		}
		assertThat(this.node.log.messages(Level.WARN)).singleElement().asString().contains("could not be stored");
	}

	@Test
	void resultThatCannotBeReadForOneCauseIsToldOnce() throws Throwable {
		this.node.execute(TestPolicy.replay(), TestAction.returning("one"));
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
				.isThrownBy(() -> this.node.execute(TestPolicy.replay(), unrendered()));
		}
		assertThat(this.node.log.messages(Level.WARN)).singleElement().asString().contains("could not be read");
	}

	/** Has done its work, and cannot say so in the form that its client wants. */
	private static EndedAction unrendered() {
		return new EndedAction(
				new CallOutcome.SuccessWithoutResult(new IllegalStateException("No form that the client accepts")));
	}

}
