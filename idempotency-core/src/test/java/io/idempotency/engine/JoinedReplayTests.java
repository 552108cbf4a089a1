package io.idempotency.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.RecordKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Duplicates that get a result before a transaction is begun. What a look costs on a
 * database is in {@code JdbcStatementCountTests}.
 */
class JoinedReplayTests {

	private final EngineFixture node = new EngineFixture();

	private final ScriptedStore store = this.node.store;

	private final TestTransactions transactions = new TestTransactions();

	private final List<String> runs = new ArrayList<>();

	@AfterEach
	void close() {
		this.node.close();
	}

	private @Nullable String execute() throws Throwable {
		return execute(TestPolicy.replay(), Fingerprint.NONE);
	}

	private @Nullable String execute(TestPolicy policy, Fingerprint fingerprint) throws Throwable {
		return execute(this.node.engine, policy, fingerprint);
	}

	private @Nullable String execute(IdempotencyEngine engine, TestPolicy policy, Fingerprint fingerprint)
			throws Throwable {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, fingerprint, policy.build(), this.store);
		return engine.execute(call, TestAction.running(() -> {
			this.runs.add("run");
			return "of run " + this.runs.size();
		}), this.transactions);
	}

	@Test
	void firstCallDoesNotLook() throws Throwable {
		execute();
		assertThat(this.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
	}

	@Test
	void duplicateOfACallOfThisNodeNeedsNoTransaction() throws Throwable {
		execute();
		this.store.forget();
		assertThat(execute()).isEqualTo("of run 1");
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK);
		assertThat(this.transactions.begun).isEqualTo(1);
		assertThat(this.node.events.count(IdempotencyEvent.REPLAYED)).isOne();
		assertThat(this.node.calls.outcomes()).containsExactly(IdempotencyOutcome.EXECUTED,
				IdempotencyOutcome.REPLAYED);
	}

	@Test
	void secondDuplicateOfACallOfAnotherNodeNeedsNoTransaction() throws Throwable {
		try (IdempotencyEngine another = new IdempotencyEngine(1, (event, operation) -> {
		})) {
			execute(another, TestPolicy.replay(), Fingerprint.NONE);
		}
		this.store.forget();
		assertThat(execute()).isEqualTo("of run 1");
		assertThat(execute()).isEqualTo("of run 1");
		assertThat(this.store.sequence()).containsExactly(Verb.CLAIM, Verb.LOOK);
		assertThat(this.transactions.begun).isEqualTo(2);
	}

	/** It sees what its transaction has written, and takes no second connection. */
	@Test
	void duplicateInATransactionStaysInIt() throws Throwable {
		execute();
		this.store.forget();
		this.transactions.begins = false;
		assertThat(execute()).isEqualTo("of run 1");
		assertThat(this.store.sequence()).containsExactly(Verb.CLAIM);
	}

	@Test
	void callWhoseRecordIsGoneRunsAgain() throws Throwable {
		execute();
		this.node.memory.admin().orElseThrow().evict(RecordKey.of(EngineFixture.KEY), false);
		this.store.forget();
		assertThat(execute()).isEqualTo("of run 2");
		assertThat(execute()).isEqualTo("of run 2");
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM, Verb.COMPLETE, Verb.LOOK);
	}

	/** One look that finds nothing is enough. */
	@Test
	void keyThatWasNotFoundIsNotLookedForAgain() throws Throwable {
		execute(TestPolicy.replay(), fingerprint("one"));
		this.store.forget();
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(IdempotencyKeyReusedException.class)
				.isThrownBy(() -> execute(TestPolicy.replay(), fingerprint("two")));
		}
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM, Verb.CLAIM);
		assertThat(this.runs).hasSize(1);
	}

	private static Fingerprint fingerprint(String content) {
		return Fingerprint.of("test").add(content).build();
	}

	/** What a look cannot see, the transaction may, which has a connection of its own. */
	@Test
	void lookThatFailsLeavesTheCallToItsClaim() throws Throwable {
		execute();
		this.store.forget();
		this.store.failBefore(Verb.LOOK, 1);
		assertThat(execute()).isEqualTo("of run 1");
		assertThat(execute()).isEqualTo("of run 1");
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM, Verb.CLAIM);
		assertThat(this.node.events.count(IdempotencyEvent.STORE_UNAVAILABLE)).isZero();
		assertThat(this.runs).hasSize(1);
	}

	/** Its transaction is there for the look-up in the business data. */
	@Test
	void resultThatCannotBeReadIsDecidedInATransaction() throws Throwable {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
				TestPolicy.replay().build().change().recoverable(true).build(), this.store);
		TestAction<String> unreadable = TestAction.returning(TextCodec.UNREADABLE).recovering(() -> {
			assertThat(this.transactions.isOpen).isTrue();
			return "recovered";
		});
		this.node.engine.execute(call, unreadable, this.transactions);
		this.store.forget();
		assertThat(this.node.engine.execute(call, unreadable, this.transactions)).isEqualTo("recovered");
		assertThat(this.node.engine.execute(call, unreadable, this.transactions)).isEqualTo("recovered");
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM, Verb.CLAIM);
		assertThat(unreadable.runs()).isEqualTo(1);
	}

	@Test
	void duplicateThatIsCountedIsNotLookedFor() throws Throwable {
		execute(TestPolicy.mode(IdempotencyMode.REJECT), Fingerprint.NONE);
		assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> execute(TestPolicy.mode(IdempotencyMode.REJECT), Fingerprint.NONE));
		assertThat(this.store.sequence()).doesNotContain(Verb.LOOK);
	}

	@Test
	void lockLeavesNothingToLookFor() throws Throwable {
		execute(TestPolicy.mode(IdempotencyMode.LOCK), Fingerprint.NONE);
		execute(TestPolicy.mode(IdempotencyMode.LOCK), Fingerprint.NONE);
		assertThat(this.runs).hasSize(2);
		assertThat(this.store.sequence()).doesNotContain(Verb.LOOK);
	}

}
