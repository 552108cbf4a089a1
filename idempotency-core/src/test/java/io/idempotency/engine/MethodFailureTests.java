package io.idempotency.engine;

import ch.qos.logback.classic.Level;

import java.io.IOException;
import java.util.concurrent.CompletionException;
import java.time.Duration;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * The guarded method throws, is interrupted, or says "already done".
 */
class MethodFailureTests {

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	@AfterEach
	void close() {
		Thread.interrupted();
		this.node.close();
	}

	static Throwable[] failures() {
		return new Throwable[] { new IllegalStateException("runtime"), new IOException("checked"),
				new StackOverflowError("error"), new InterruptedException("interrupt"),
				new IdempotencyDuplicateException("inner", 2), new IdempotencyStoreException("another store"),
				new UnreadableResultException("another engine") };
	}

	@ParameterizedTest
	@MethodSource("failures")
	void whateverTheMethodThrowsPassesUnchangedAndReleases(Throwable failure) throws Throwable {
		assertThat(catchThrowable(() -> this.node.execute(this.policy, TestAction.throwing(failure))))
			.isSameAs(failure);
		assertThat(failure.getSuppressed()).isEmpty();
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RELEASE);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED);
		assertThat(this.node.execute(this.policy, TestAction.returning("retry"))).isEqualTo("retry");
	}

	@ParameterizedTest
	@MethodSource("failures")
	void failureIsRememberedByTypeAndMessage(Throwable failure) {
		TestPolicy remembering = this.policy.remembering();
		assertThat(catchThrowable(() -> this.node.execute(remembering, TestAction.throwing(failure))))
			.isSameAs(failure);
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
		TestAction<String> duplicate = TestAction.returning("two");
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.node.execute(remembering, duplicate))
			.withMessage(failure.getMessage())
			.satisfies((ex) -> assertThat(ex.type()).isEqualTo(failure.getClass().getName()));
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED);
	}

	@Test
	void failureWithoutAMessageIsRememberedWithAnEmptyOne() {
		TestPolicy remembering = this.policy.remembering();
		catchThrowable(() -> this.node.execute(remembering, TestAction.throwing(new IllegalStateException())));
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.node.execute(remembering, TestAction.returning("two")))
			.withMessage("");
	}

	@Test
	void messageOfARememberedFailureMayHaveManyLines() {
		TestPolicy remembering = this.policy.remembering();
		catchThrowable(
				() -> this.node.execute(remembering, TestAction.throwing(new IOException("first\nsecond\u2026"))));
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.node.execute(remembering, TestAction.returning("two")))
			.withMessage("first\nsecond\u2026")
			.satisfies((ex) -> assertThat(ex.type()).isEqualTo(IOException.class.getName()));
	}

	@Test
	void failureWhoseMessageCannotBeReadIsRememberedByItsType() {
		RuntimeException failure = new IllegalStateException() {

			@Override
			public String getMessage() {
				throw new IllegalArgumentException("broken");
			}

		};
		TestPolicy remembering = this.policy.remembering();
		assertThat(catchThrowable(() -> this.node.execute(remembering, TestAction.throwing(failure))))
			.isSameAs(failure);
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.node.execute(remembering, TestAction.returning("two")))
			.satisfies((ex) -> assertThat(ex.type()).isEqualTo(failure.getClass().getName()));
	}

	@Test
	void failureWhoseCauseCannotBeReadReleases() throws Throwable {
		CompletionException failure = new CompletionException(new IOException()) {

			@Override
			public synchronized Throwable getCause() {
				throw new IllegalArgumentException("broken");
			}

		};
		assertThat(catchThrowable(() -> this.node.execute(this.policy, TestAction.throwing(failure))))
			.isSameAs(failure);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void failureOfALockIsNeverRemembered() throws Throwable {
		TestPolicy lock = TestPolicy.mode(IdempotencyMode.LOCK).remembering();
		catchThrowable(() -> this.node.execute(lock, TestAction.throwing(new IOException())));
		assertThat(this.node.execute(lock, TestAction.returning("two"))).isEqualTo("two");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED, IdempotencyEvent.EXECUTED);
	}

	@Test
	void rejectReleasesAFailedCall() throws Throwable {
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT);
		catchThrowable(() -> this.node.execute(reject, TestAction.throwing(new IOException())));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.RELEASE);
		assertThat(this.node.execute(reject, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void rejectRemembersAFailedCallAsADuplicate() {
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT).remembering();
		catchThrowable(() -> this.node.execute(reject, TestAction.throwing(new IOException())));
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> this.node.execute(reject, TestAction.returning("two")));
	}

	@Test
	void interruptOfAMethodThatReturnsIsKeptAndItsResultIsStored() throws Throwable {
		failStoreWhereverItIsInterrupted();
		String answer = this.node.execute(this.policy, TestAction.running(() -> {
			Thread.currentThread().interrupt();
			return "one";
		}));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(answer).isEqualTo("one");
		await().until(() -> this.node.events.count(IdempotencyEvent.EXECUTED) == 1);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("one");
	}

	@Test
	void interruptOfAMethodThatThrowsIsKeptAndItsKeyIsReleased() throws Throwable {
		failStoreWhereverItIsInterrupted();
		IOException failure = new IOException("closed by interrupt");
		Throwable thrown = catchThrowable(() -> this.node.execute(this.policy, TestAction.running(() -> {
			Thread.currentThread().interrupt();
			throw failure;
		})));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(thrown).isSameAs(failure);
		await().until(() -> this.node.events.count(IdempotencyEvent.RELEASED) == 1);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void interruptedCallerLeavesNoClaim() {
		failStoreWhereverItIsInterrupted();
		Thread.currentThread().interrupt();
		TestAction<String> door = TestAction.returning("one");
		catchThrowable(() -> this.node.execute(this.policy, door));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(door.runs()).isZero();
		await().until(() -> this.node.memory.size() == 0);
	}

	@Test
	void duplicateIsRecoveredAndStored() throws Throwable {
		TestAction<String> door = TestAction.<String>throwing(new DuplicateRow())
			.duplicateOn(DuplicateRow.class)
			.recovering(() -> "from the table");
		assertThat(this.node.execute(this.policy.recoverable(), door)).isEqualTo("from the table");
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RECOVERED, IdempotencyEvent.EXECUTED);
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("from the table");
	}

	@Test
	void duplicateWithoutRecoveryLeavesCompletionWithoutResult() {
		DuplicateRow failure = new DuplicateRow();
		TestAction<String> door = TestAction.<String>throwing(failure).duplicateOn(RuntimeException.class);
		assertNeverASecondRun(door, failure);
		assertThat(door.recoveries()).isZero();
	}

	@Test
	void failsWhenRecoverDoesNotFindTheResultOfADuplicate() throws Throwable {
		DuplicateRow failure = new DuplicateRow();
		this.policy.recoverable();
		TestAction<String> action = TestAction.<String>throwing(failure).duplicateOn(DuplicateRow.class);
		try (CapturedLog log = new CapturedLog()) {
			assertThat(catchThrowable(() -> this.node.execute(this.policy, action))).isSameAs(failure);
			assertThat(catchThrowable(() -> this.node.execute(this.policy, action))).isSameAs(failure);
			assertThat(log.messages(Level.WARN)).singleElement()
				.asString()
				.contains(TestPolicy.OPERATION, DuplicateRow.class.getName(), "duplicateConstraint");
		}
		assertThat(action.recoveries()).isEqualTo(2);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RELEASED, IdempotencyEvent.RELEASED);
		assertThat(this.node.execute(this.policy, TestAction.returning("retry"))).isEqualTo("retry");
	}

	@Test
	void remembersAFailureWhoseResultRecoverDoesNotFind() {
		this.policy.recoverable().remembering();
		TestAction<String> action = TestAction.<String>throwing(new DuplicateRow()).duplicateOn(DuplicateRow.class);
		assertThatExceptionOfType(DuplicateRow.class).isThrownBy(() -> this.node.execute(this.policy, action));
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.node.execute(this.policy, action));
		assertThat(action.runs()).isOne();
	}

	@Test
	void duplicateWhoseRecoveryThrowsLeavesCompletionWithoutResult() {
		DuplicateRow failure = new DuplicateRow();
		InterruptedException interrupted = new InterruptedException("look-up");
		this.policy.recoverable();
		TestAction<String> door = TestAction.<String>throwing(failure)
			.duplicateOn(DuplicateRow.class)
			.recovering(() -> {
				throw interrupted;
			});
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, door))
			.withCause(failure)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(interrupted));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RESULT_NOT_STORED,
				IdempotencyEvent.EXECUTED, IdempotencyEvent.RESULT_UNAVAILABLE);
	}

	@Test
	void duplicateWhoseRecoveryFailsLikeAnyOtherLeavesCompletionWithoutResult() {
		this.policy.recoverable();
		TestAction<String> door = TestAction.<String>throwing(new DuplicateRow())
			.duplicateOn(DuplicateRow.class)
			.recovering(() -> {
				throw new StackOverflowError();
			});
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, door));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
	}

	@Test
	void duplicateLeavesATombstoneAlsoWhereFailuresAreRemembered() {
		this.policy.remembering();
		assertNeverASecondRun(TestAction.<String>throwing(new DuplicateRow()).duplicateOn(DuplicateRow.class), null);
	}

	@Test
	void tombstoneOfADuplicateIsRepeatedWhenTheStoreFails() {
		this.node.store.failBefore(Verb.COMPLETE, 2);
		TestAction<String> door = TestAction.<String>throwing(new DuplicateRow()).duplicateOn(DuplicateRow.class);
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, door));
		await().until(() -> this.node.events.count(IdempotencyEvent.RESULT_NOT_STORED) == 1);
		assertThat(this.node.askElsewhere(this.policy)).isInstanceOf(ClaimResult.ResultUnavailable.class);
	}

	@Test
	void otherExceptionsThanTheDuplicateRelease() throws Throwable {
		TestAction<String> door = TestAction.<String>throwing(new IOException()).duplicateOn(DuplicateRow.class);
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.node.execute(this.policy, door));
		assertThat(this.node.execute(this.policy, TestAction.returning("two"))).isEqualTo("two");
	}

	@Test
	void releasedKeyRunsAgainAfterManyFailures() throws Throwable {
		for (int i = 0; i < 5; i++) {
			catchThrowable(() -> this.node.execute(this.policy, TestAction.throwing(new IOException())));
			this.node.clock.advance(Duration.ofMillis(1));
		}
		assertThat(this.node.execute(this.policy, TestAction.returning("sixth"))).isEqualTo("sixth");
		assertThat(this.node.events.count(IdempotencyEvent.RELEASED)).isEqualTo(5);
	}

	private void assertNeverASecondRun(TestAction<String> door, DuplicateRow failure) {
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, door))
			.satisfies((ex) -> assertThat(failure == null || ex.getCause() == failure).isTrue());
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.node.execute(this.policy, door));
		assertThat(door.runs()).isOne();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.RESULT_NOT_STORED,
				IdempotencyEvent.EXECUTED, IdempotencyEvent.RESULT_UNAVAILABLE, IdempotencyEvent.RESULT_UNAVAILABLE);
	}

	/** As drivers do whose waits can be interrupted. */
	private void failStoreWhereverItIsInterrupted() {
		for (Verb verb : Verb.values()) {
			this.node.store.on(verb, Point.AFTER, ScriptedStore.ALWAYS, () -> {
				if (Thread.currentThread().isInterrupted()) {
					throw new IdempotencyStoreException("interrupted");
				}
			});
		}
	}

	private static final class DuplicateRow extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

}
