package io.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.codec.AesGcmResultCipher;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.codec.ResultEncryption;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Early replays of results that this node has seen in a store. */
class EarlyLookTests {

	private static final Fingerprint FINGERPRINT = Fingerprint.of("test").add("a").build();

	private static final Fingerprint OTHER = Fingerprint.of("test").add("b").build();

	private final ManualScheduler time = new ManualScheduler();

	private final EngineFixture node = new EngineFixture(this.time);

	private final ScriptedStore store = this.node.store;

	private final TestPolicy policy = TestPolicy.replay();

	private final List<String> replayed = new ArrayList<>();

	@AfterEach
	void close() {
		this.node.close();
	}

	private void run() throws Throwable {
		this.node.execute(this.policy, FINGERPRINT, TestAction.returning("one"));
	}

	private boolean mayReplay() {
		return this.node.engine.mayReplayEarly(this.store, EngineFixture.KEY);
	}

	private boolean replay(Fingerprint fingerprint) {
		return replay(this.node.engine, fingerprint);
	}

	private boolean replay(IdempotencyEngine engine, Fingerprint fingerprint) {
		return engine.replayEarly(new GuardedCall(EngineFixture.KEY, fingerprint, this.policy.build(), this.store),
				(result) -> this.replayed.add(new String(result.bytes(), StandardCharsets.UTF_8)));
	}

	@Test
	void resultOfACallOfThisNodeIsFoundByOneLook() throws Throwable {
		assertThat(mayReplay()).isFalse();
		run();
		this.store.forget();
		assertThat(mayReplay()).isTrue();
		assertThat(replay(FINGERPRINT)).isTrue();
		assertThat(this.replayed).containsExactly("=one");
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED);
	}

	@Test
	void resultOfACallOfAnotherNodeIsFoundAfterItsFirstReplayHere() throws Throwable {
		try (IdempotencyEngine another = new IdempotencyEngine(1, IdempotencyListener.NONE)) {
			another.execute(new GuardedCall(EngineFixture.KEY, FINGERPRINT, this.policy.build(), this.store),
					TestAction.returning("one"));
		}
		this.store.forget();
		assertThat(mayReplay()).isFalse();
		assertThat(replay(FINGERPRINT)).isFalse();
		assertThat(this.store.sequence()).isEmpty();
		run();
		assertThat(replay(FINGERPRINT)).isTrue();
		assertThat(this.store.sequence()).containsExactly(Verb.CLAIM, Verb.LOOK);
	}

	@Test
	void callThatRunsIsNotLookedFor() throws Throwable {
		this.node.execute(this.policy, FINGERPRINT, TestAction.running(() -> {
			assertThat(mayReplay()).isFalse();
			assertThat(replay(FINGERPRINT)).isFalse();
			return "one";
		}));
		assertThat(this.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE);
	}

	@Test
	void lookThatFindsNothingIsNotRepeated() throws Throwable {
		run();
		this.store.forget();
		assertThat(replay(OTHER)).isFalse();
		assertThat(replay(OTHER)).isFalse();
		assertThat(mayReplay()).isFalse();
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK);
		assertThat(this.replayed).isEmpty();
	}

	@Test
	void resultThatIsOverIsNotFound() throws Throwable {
		run();
		this.node.clock.advance(this.policy.build().retention());
		assertThat(replay(FINGERPRINT)).isFalse();
	}

	@Test
	void callWithoutAResultIsNotLookedFor() throws Throwable {
		this.node.execute(TestPolicy.mode(IdempotencyMode.LOCK), TestAction.returning("one"));
		assertThat(mayReplay()).isFalse();
		this.node.execute(TestPolicy.mode(IdempotencyMode.REJECT), TestAction.returning("one"));
		assertThat(mayReplay()).isFalse();
	}

	@Test
	void resultThatIsNotKeptIsNotLookedFor() throws Throwable {
		IdempotencyOptions keepsNone = this.policy.build().change().keepResult(false).build();
		this.node.engine.execute(new GuardedCall(EngineFixture.KEY, FINGERPRINT, keepsNone, this.store),
				TestAction.returning("one"));
		assertThat(this.node.events.count(IdempotencyEvent.RESULT_NOT_STORED)).isOne();
		assertThat(mayReplay()).isFalse();
	}

	/** As long as the claims of a store fail, its looks would only make them later. */
	@Test
	void storeWhoseClaimsFailIsNotLookedAt() throws Throwable {
		run();
		this.store.failBefore(Verb.CLAIM, 2);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::run);
		this.store.forget();
		assertThat(mayReplay()).isFalse();
		assertThat(replay(FINGERPRINT)).isFalse();
		assertThat(this.store.sequence()).isEmpty();
		run();
		this.time.advance(StoreCircuitBreaker.QUIET);
		assertThat(mayReplay()).isTrue();
		assertThat(replay(FINGERPRINT)).isTrue();
	}

	/** A store of the application may throw anything. */
	@ParameterizedTest
	@ValueSource(classes = { IdempotencyStoreException.class, IllegalStateException.class })
	void storeWhoseLooksFailIsAskedByClaimsForAMoment(Class<?> type) throws Throwable {
		run();
		this.store.forget();
		this.store.fail(Verb.LOOK, ScriptedStore.Point.BEFORE, 2, () -> (type == IllegalStateException.class)
				? new IllegalStateException("broken") : new IdempotencyStoreException("down"));
		for (int i = 0; i < 2; i++) {
			assertThat(replay(FINGERPRINT)).isFalse();
			run();
			assertThat(mayReplay()).isFalse();
			assertThat(replay(FINGERPRINT)).isFalse();
			this.time.advance(Duration.ofSeconds(10).minusNanos(1));
			assertThat(mayReplay()).isFalse();
			this.time.advance(Duration.ofNanos(1));
			assertThat(mayReplay()).isTrue();
		}
		assertThat(replay(FINGERPRINT)).isTrue();
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM, Verb.LOOK, Verb.CLAIM, Verb.LOOK);
		assertThat(this.node.log.messages(Level.WARN)).singleElement()
			.asString()
			.contains("Lookup of a stored result", "failed for a call of 'orders.create'");
	}

	@Test
	void resultThatCannotBeReadIsLeftToTheGuard() throws Throwable {
		run();
		assertThat(this.node.engine.replayEarly(
				new GuardedCall(EngineFixture.KEY, FINGERPRINT, this.policy.build(), this.store),
				EarlyLookTests::reject))
			.isFalse();
		assertThat(this.node.events.count(IdempotencyEvent.REPLAYED)).isZero();
		assertThat(mayReplay()).isFalse();
	}

	private static void reject(StoredResult result) {
		throw new UnreadableResultException("Nobody reads " + result);
	}

	/** A look rejects nothing: only the door knows that the result is no answer. */
	@Test
	void resultThatIsNoAnswerToThisCallIsLeftToTheGuard() throws Throwable {
		run();
		assertThat(this.node.engine
			.replayEarly(new GuardedCall(EngineFixture.KEY, FINGERPRINT, this.policy.build(), this.store), (result) -> {
				throw new IdempotencyKeyReusedException("orders.create");
			})).isFalse();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
		assertThat(mayReplay()).isFalse();
	}

	/** Even if this node has seen its result as that of another mode. */
	@Test
	void callThatIsCountedIsNotLookedFor() throws Throwable {
		run();
		this.store.forget();
		assertThat(
				this.node.engine.replayEarly(
						new GuardedCall(EngineFixture.KEY, Fingerprint.NONE,
								TestPolicy.mode(IdempotencyMode.REJECT).build(), this.store),
						(result) -> this.replayed.add("counted")))
			.isFalse();
		assertThat(this.store.sequence()).isEmpty();
		assertThat(this.replayed).isEmpty();
	}

	@Test
	void encryptedResultIsGivenToWhoHasTheKey() throws Throwable {
		ResultEncryption encryption = new ResultEncryption(new AesGcmResultCipher("k1", Map.of("k1", new byte[32])),
				false);
		try (EngineFixture secret = new EngineFixture(encryption)) {
			GuardedCall call = new GuardedCall(EngineFixture.KEY, FINGERPRINT, this.policy.build(), secret.store);
			secret.engine.execute(call, TestAction.returning("one"));
			assertThat(secret.engine.replayEarly(call,
					(result) -> this.replayed.add(new String(result.bytes(), StandardCharsets.UTF_8))))
				.isTrue();
			assertThat(this.replayed).containsExactly("=one");
		}
	}

	@Test
	void closedEngineDoesNotLook() throws Throwable {
		run();
		this.node.engine.close();
		this.store.forget();
		assertThat(replay(FINGERPRINT)).isFalse();
		assertThat(this.store.sequence()).isEmpty();
	}

	@Test
	void callInsideATransactionIsLeftToTheGuard() throws Throwable {
		AtomicReference<@Nullable SurroundingTransaction> transaction = new AtomicReference<>();
		try (IdempotencyEngine inside = new IdempotencyEngine(1, this.node.events, this.time, transaction::get)) {
			inside.execute(new GuardedCall(EngineFixture.KEY, FINGERPRINT, this.policy.build(), this.store),
					TestAction.returning("one"));
			transaction.set(new OpenTransaction());
			assertThat(replay(inside, FINGERPRINT)).isFalse();
			transaction.set(null);
			assertThat(replay(inside, FINGERPRINT)).isTrue();
		}
	}

	/** The caller holds a connection, which a look can use and a claim cannot. */
	@Test
	void duplicateInsideATransactionLooksFirst() throws Throwable {
		AtomicReference<@Nullable SurroundingTransaction> transaction = new AtomicReference<>();
		GuardedCall call = new GuardedCall(EngineFixture.KEY, FINGERPRINT, this.policy.build(), this.store);
		try (IdempotencyEngine inside = new IdempotencyEngine(1, this.node.events, this.time, transaction::get)) {
			inside.execute(call, TestAction.returning("one"));
			inside.execute(call, TestAction.returning("two"));
			transaction.set(new OpenTransaction());
			assertThat(inside.execute(call, TestAction.returning("two"))).isEqualTo("one");
			assertThatExceptionOfType(IdempotencyKeyReusedException.class).isThrownBy(
					() -> inside.execute(new GuardedCall(EngineFixture.KEY, OTHER, this.policy.build(), this.store),
							TestAction.returning("two")));
		}
		assertThat(this.store.sequence()).containsExactly(Verb.CLAIM, Verb.COMPLETE, Verb.CLAIM, Verb.LOOK, Verb.LOOK,
				Verb.CLAIM);
		assertThat(this.node.events.count(IdempotencyEvent.REPLAYED)).isEqualTo(2);
	}

	/** Else the caller waits for two time-outs. */
	@Test
	void lookThatHasTakenItsTimeToFailStandsForTheClaim() throws Throwable {
		run();
		failSlowly(Verb.LOOK, ClaimStateMachine.SENT_AGAIN_WITHIN);
		assertThat(replay(FINGERPRINT)).isFalse();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::run)
			.withCauseInstanceOf(IdempotencyStoreException.class);
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK);
		assertThat(this.node.log.messages(Level.WARN)).anyMatch((line) -> line.contains("Lookup of a stored result"));
		assertThat(this.node.events.count(IdempotencyEvent.STORE_UNAVAILABLE)).isOne();
		// It stands for the claim of its own call only.
		run();
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM);
	}

	/** Else it would run a second time, although its result is known to be there. */
	@Test
	void lookStandsForNoClaimThatWouldLetTheCallRun() throws Throwable {
		run();
		failSlowly(Verb.LOOK, ClaimStateMachine.SENT_AGAIN_WITHIN);
		GuardedCall call = new GuardedCall(EngineFixture.KEY, FINGERPRINT, TestPolicy.replay().proceeding().build(),
				this.store);
		assertThat(this.node.engine.replayEarly(call, (result) -> this.replayed.add("early"))).isFalse();
		assertThat(this.node.engine.execute(call, TestAction.returning("two"))).isEqualTo("one");
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM);
		assertThat(this.node.events.count(IdempotencyEvent.REPLAYED)).isOne();
	}

	@Test
	void lookOfACallStandsForNoClaimOfAnotherCall() throws Throwable {
		run();
		failSlowly(Verb.LOOK, ClaimStateMachine.SENT_AGAIN_WITHIN);
		assertThat(replay(FINGERPRINT)).isFalse();
		GuardedCall call = new GuardedCall(EngineFixture.KEY, FINGERPRINT, this.policy.build(), this.store);
		AtomicReference<@Nullable Object> other = new AtomicReference<>();
		Thread thread = new Thread(() -> {
			try {
				other.set(this.node.engine.execute(call, TestAction.returning("two")));
			}
			catch (Throwable ex) {
				other.set(ex);
			}
		});
		thread.start();
		thread.join();
		assertThat(other.get()).isEqualTo("one");
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::run);
	}

	@Test
	void lookThatHasFailedLongAgoStandsForNoClaim() throws Throwable {
		run();
		failSlowly(Verb.LOOK, ClaimStateMachine.SENT_AGAIN_WITHIN);
		assertThat(replay(FINGERPRINT)).isFalse();
		this.time.skip(StoreCircuitBreaker.PAUSE);
		run();
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM);
	}

	@Test
	void lookThatFailsSoonerIsFollowedByTheClaim() throws Throwable {
		run();
		failSlowly(Verb.LOOK, ClaimStateMachine.SENT_AGAIN_WITHIN.minusNanos(1));
		assertThat(replay(FINGERPRINT)).isFalse();
		run();
		assertThat(this.store.sequence()).containsExactly(Verb.LOOK, Verb.CLAIM);
	}

	private void failSlowly(Verb verb, Duration after) {
		this.store.forget();
		this.store.on(verb, ScriptedStore.Point.BEFORE, 1, () -> {
			this.time.skip(after);
			throw new IdempotencyStoreException("time-out", new IllegalStateException("no answer"));
		});
	}

}
