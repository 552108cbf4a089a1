package io.idempotency.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.TransactionLostException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Failures inside a joined transaction; real transactions are tested with a database. */
class JoinedCallsTests {

	private final EngineFixture node = new EngineFixture();

	private final ScriptedStore joining = this.node.store;

	private final RecordedTransactions transactions = new RecordedTransactions();

	private final List<String> runs = new ArrayList<>();

	@AfterEach
	void close() {
		this.node.close();
	}

	private @Nullable String execute() throws Throwable {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, TestPolicy.replay().build(),
				this.joining);
		return this.node.engine.execute(call, TestAction.running(() -> {
			this.runs.add("run");
			return "one";
		}), this.transactions);
	}

	@Test
	void transactionThatIsLostWithItsClaimIsBegunAgain() throws Throwable {
		this.joining.fail(ScriptedStore.Verb.CLAIM, ScriptedStore.Point.BEFORE, 1,
				() -> new TransactionLostException("deadlock", null));
		assertThat(execute()).isEqualTo("one");
		assertThat(this.runs).hasSize(1);
		assertThat(this.transactions.outcomes).containsExactly(BusinessTransactions.Outcome.ROLLED_BACK,
				BusinessTransactions.Outcome.COMMITTED);
	}

	@Test
	void transactionThatIsLostAgainAndAgainIsGivenUp() {
		this.joining.fail(ScriptedStore.Verb.CLAIM, ScriptedStore.Point.BEFORE, ScriptedStore.ALWAYS,
				() -> new TransactionLostException("deadlock", null));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::execute)
			.withCauseInstanceOf(TransactionLostException.class);
		assertThat(this.transactions.outcomes).hasSize(3).containsOnly(BusinessTransactions.Outcome.ROLLED_BACK);
		assertThat(this.runs).isEmpty();
	}

	@Test
	void completionThatFailsRollsTheWorkBackAndIsNeverRepeated() {
		this.joining.failBefore(ScriptedStore.Verb.COMPLETE, ScriptedStore.ALWAYS);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::execute)
			.withCauseInstanceOf(IdempotencyStoreException.class);
		assertThat(this.runs).hasSize(1);
		assertThat(this.joining.count(ScriptedStore.Verb.COMPLETE)).isEqualTo(1);
		assertThat(this.transactions.outcomes).containsExactly(BusinessTransactions.Outcome.ROLLED_BACK);
	}

	@Test
	void commitWhoseReplyIsLostReleasesNothing() {
		this.transactions.loseReplyOfCommit = true;
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(this::execute).withMessage("reply lost");
		assertThat(this.joining.count(ScriptedStore.Verb.RELEASE)).isZero();
		assertThat(this.node.askElsewhere(TestPolicy.replay())).isInstanceOf(ClaimResult.Completed.class);
	}

	private static final class RecordedTransactions implements BusinessTransactions {

		private final List<Outcome> outcomes = new ArrayList<>();

		private boolean loseReplyOfCommit;

		@Override
		public <T> @Nullable T execute(Work<T> work, Consumer<Outcome> ended) throws Throwable {
			T result;
			try {
				result = work.run();
			}
			catch (Throwable failure) {
				end(Outcome.ROLLED_BACK, ended);
				throw failure;
			}
			if (this.loseReplyOfCommit) {
				end(Outcome.UNKNOWN, ended);
				throw new IllegalStateException("reply lost");
			}
			end(Outcome.COMMITTED, ended);
			return result;
		}

		private void end(Outcome outcome, Consumer<Outcome> ended) {
			this.outcomes.add(outcome);
			ended.accept(outcome);
		}

	}

}
