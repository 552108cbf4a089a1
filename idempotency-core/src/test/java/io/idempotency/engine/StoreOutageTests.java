package io.idempotency.engine;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.NotAllRenewedException;
import io.idempotency.store.StoreNotReachedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** An outage begins with any verb that fails, and ends with any that is answered. */
class StoreOutageTests {

	private final TestPolicy policy = TestPolicy.replay().lease(Duration.ofSeconds(30));

	private final ManualScheduler time = new ManualScheduler();

	private final EngineFixture node = new EngineFixture(this.time);

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void claimThatFailsBeginsAnOutage() {
		beginWithAClaim();
		assertBegun("make");
	}

	@Test
	void completionThatFailsBeginsAnOutage() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 1);
		call("key-1", TestAction.returning("one"));
		assertBegun("complete");
	}

	@Test
	void releaseThatFailsBeginsAnOutage() {
		this.node.store.failBefore(Verb.RELEASE, 1);
		assertThatIllegalStateException()
			.isThrownBy(() -> call("key-1", TestAction.throwing(new IllegalStateException("failed"))));
		assertBegun("release");
	}

	@Test
	void renewalThatFailsBeginsAnOutage() throws Throwable {
		running("key-1");
		this.node.store.failBefore(Verb.RENEW, 1);
		this.time.advance(Duration.ofSeconds(10));
		assertBegun("renew");
	}

	@Test
	void rowThatIsLockedBeginsAnOutage() throws Throwable {
		running("key-1");
		running("key-2");
		this.node.store.onRenewAll((renewals) -> {
			throw new NotAllRenewedException("locked", Set.of(renewals.iterator().next().claimId()), Set.of());
		});
		this.time.advance(Duration.ofSeconds(10));
		assertBegun("renew");
	}

	@Test
	void renewalBeforeTheStartThatFailsBeginsAnOutage() {
		this.node.store.on(Verb.CLAIM, Point.AFTER, 1, () -> this.time.skip(Duration.ofSeconds(15)));
		this.node.store.failBefore(Verb.RENEW, 1);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> call("key-1", TestAction.returning("one")));
		assertBegun("renew");
	}

	@Test
	void repetitionsThatFailCountAndTheOneThatIsAnsweredEndsTheOutage() throws Throwable {
		this.node.store.failBefore(Verb.COMPLETE, 2);
		this.node.store.failBefore(Verb.RENEW, 1);
		call("key-1", TestAction.returning("one"));
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.node.log.messages(Level.WARN)).last().asString().contains("with 3 failed operations");
	}

	@Test
	void claimThatIsAnsweredEndsTheOutage() throws Throwable {
		beginWithAClaim();
		running("key-1");
		assertEndsWithin(Duration.ofSeconds(2));
	}

	@Test
	void renewalThatIsAnsweredEndsTheOutage() throws Throwable {
		running("key-1");
		beginWithAClaim();
		this.time.advance(Duration.ofSeconds(9));
		assertEndsWithin(Duration.ofSeconds(3));
	}

	@Test
	void completionThatIsAnsweredEndsTheOutage() throws Throwable {
		CompletableFuture<String> work = new CompletableFuture<>();
		call("key-1", TestAction.async(() -> work));
		beginWithAClaim();
		work.complete("one");
		assertEndsWithin(Duration.ofSeconds(2));
	}

	@Test
	void callsProceedWithoutAskingAStoreThatIsAway() throws Throwable {
		this.node.store.on(Verb.CLAIM, Point.BEFORE, ScriptedStore.ALWAYS, () -> {
			this.time.skip(Claimer.AT_ONCE);
			throw new StoreNotReachedException("no connection", new IllegalStateException("pool"));
		});
		int unguarded = 0;
		for (int i = 0; i < 100; i++) {
			unguarded += "one".equals(this.node.execute(TestPolicy.replay().proceeding(), TestAction.returning("one")))
					? 1 : 0;
		}
		assertThat(unguarded).isEqualTo(100);
		assertThat(this.node.log.messages(Level.INFO)).isNotEmpty()
			.allMatch((line) -> line.contains("runs unguarded") && line.contains(EngineFixture.KEY.hashHex()));
		assertThat(this.node.store.count(Verb.CLAIM)).isLessThan(10);
		this.node.store.heal();
		this.time.advance(StoreCircuitBreaker.PAUSE);
		assertThat(this.node.execute(TestPolicy.replay().proceeding(), TestAction.returning("two"))).isEqualTo("two");
		assertThat(this.node.askElsewhere(TestPolicy.replay())).isInstanceOf(ClaimResult.Completed.class);
	}

	/** As many lines as calls would be a second outage. */
	@Test
	void fewUnguardedRunsOfASecondHaveALineAndAllAreCounted() throws Throwable {
		this.node.store.failBefore(Verb.CLAIM, ScriptedStore.ALWAYS);
		this.node.log.alsoDebug();
		proceed(StoreCircuitBreaker.LINES - 1);
		assertThat(this.node.log.messages(Level.INFO)).hasSize(StoreCircuitBreaker.LINES - 1)
			.noneMatch((line) -> line.contains("DEBUG"));
		proceed(90);
		assertThat(this.node.log.messages(Level.INFO)).hasSize(StoreCircuitBreaker.LINES)
			.last()
			.asString()
			.endsWith("; further unguarded calls in this second are logged at DEBUG");
		assertThat(this.node.log.messages(Level.DEBUG))
			.filteredOn((line) -> line.contains("runs unguarded") && line.contains(EngineFixture.KEY.hashHex()))
			.hasSize(89);
		this.time.skip(Duration.ofSeconds(1));
		proceed(1);
		assertThat(this.node.log.messages(Level.INFO)).hasSize(StoreCircuitBreaker.LINES + 1);
		this.node.store.heal();
		running("key-1");
		this.time.advance(StoreCircuitBreaker.PAUSE.plus(StoreCircuitBreaker.QUIET));
		running("key-2");
		this.time.advance(StoreCircuitBreaker.QUIET);
		assertThat(this.node.log.messages(Level.WARN)).last()
			.asString()
			.contains("recovered after")
			.contains(" failed operations and " + (StoreCircuitBreaker.LINES + 90) + " unguarded calls. ");
	}

	private void proceed(int calls) throws Throwable {
		for (int i = 0; i < calls; i++) {
			this.node.execute(TestPolicy.replay().proceeding(), TestAction.returning("one"));
		}
	}

	/** A full store takes no claim and has the results of earlier calls. */
	@Test
	void storeThatRejectsFirstCallsAtOnceIsAskedByTheirDuplicates() throws Throwable {
		assertThat(this.node.execute(TestPolicy.replay().proceeding(), TestAction.returning("one"))).isEqualTo("one");
		this.node.store.failBefore(Verb.CLAIM, 6);
		for (int i = 0; i < 3; i++) {
			String key = "key-" + i;
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> call(key, TestAction.returning("one")));
		}
		assertThat(this.node.execute(TestPolicy.replay().proceeding(), TestAction.returning("two"))).isEqualTo("one");
	}

	@Test
	void bothFailuresOfAClaimThatIsSentTwiceCount() {
		this.node.store.failBefore(Verb.CLAIM, 2);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> call("key-1", TestAction.returning("one")));
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.node.log.messages(Level.WARN)).last().asString().contains("with 2 failed operations");
	}

	/** Nothing has to be given back, so that no other answer ends the outage. */
	private void beginWithAClaim() {
		this.node.store.fail(Verb.CLAIM, Point.BEFORE, 1,
				() -> new StoreNotReachedException("no connection", new IllegalStateException("pool")));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> call("other", TestAction.returning("one")));
	}

	private void assertBegun(String verb) {
		assertThat(this.node.log.messages(Level.WARN)).singleElement()
			.asString()
			.contains("could not " + verb + " a claim of '" + TestPolicy.OPERATION + "'");
	}

	private void assertEndsWithin(Duration duration) {
		assertThat(this.node.log.messages(Level.WARN)).hasSize(1);
		this.time.advance(duration);
		assertThat(this.node.log.messages(Level.WARN)).hasSize(2).last().asString().contains("recovered after");
	}

	private void running(String key) throws Throwable {
		call(key, TestAction.async(CompletableFuture<String>::new));
	}

	private <T> void call(String key, TestAction<T> action) throws Throwable {
		this.node.engine.execute(new GuardedCall(IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, key),
				Fingerprint.NONE, this.policy.build(), this.node.store), action);
	}

}
