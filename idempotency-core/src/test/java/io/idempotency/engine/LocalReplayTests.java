package io.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.IdempotencyEvent;
import io.idempotency.codec.AesGcmResultCipher;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Fingerprint;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.protocol.ResultEncryption;
import io.idempotency.protocol.UnreadableResultException;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Replays of results that are in the memory of this JVM. */
class LocalReplayTests {

	private static final Fingerprint FINGERPRINT = Fingerprint.of("test").add("a").build();

	private static final Fingerprint OTHER = Fingerprint.of("test").add("b").build();

	private final EngineFixture node = new EngineFixture();

	private final TestPolicy policy = TestPolicy.replay();

	private final List<String> replayed = new ArrayList<>();

	@AfterEach
	void close() {
		this.node.close();
	}

	private boolean replay(IdempotencyEngine engine, Fingerprint fingerprint, IdempotencyStore store) {
		return engine.replayEarly(new GuardedCall(EngineFixture.KEY, fingerprint, this.policy.build(), store),
				(result) -> this.replayed.add(new String(result.bytes(), StandardCharsets.UTF_8)));
	}

	private boolean replay(Fingerprint fingerprint) {
		return replay(this.node.engine, fingerprint, this.node.memory);
	}

	private void run() throws Throwable {
		this.node.execute(this.policy, FINGERPRINT, TestAction.returning("one"));
	}

	@Test
	void finishedResultIsReplayedAndNobodyIsAsked() throws Throwable {
		run();
		int claims = this.node.store.count(Verb.CLAIM);
		assertThat(replay(FINGERPRINT)).isTrue();
		assertThat(this.replayed).hasSize(1).first().asString().contains("one");
		assertThat(this.node.store.count(Verb.CLAIM)).isEqualTo(claims);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED);
	}

	@Test
	void whatIsAbsentRunsOrWasAskedOtherwiseIsNotReplayed() throws Throwable {
		assertThat(replay(FINGERPRINT)).isFalse();
		this.node.execute(this.policy, FINGERPRINT, TestAction.running(() -> {
			assertThat(replay(FINGERPRINT)).as("while it runs").isFalse();
			return "one";
		}));
		assertThat(replay(OTHER)).isFalse();
		assertThat(replay(Fingerprint.NONE)).isFalse();
		assertThat(this.replayed).isEmpty();
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
	}

	@Test
	void resultThatIsOverIsNotReplayed() throws Throwable {
		run();
		this.node.clock.advance(this.policy.build().retention());
		assertThat(replay(FINGERPRINT)).isFalse();
	}

	@Test
	void closedEngineReplaysNothing() throws Throwable {
		run();
		this.node.engine.close();
		assertThat(replay(FINGERPRINT)).isFalse();
	}

	@Test
	void callInsideATransactionIsLeftToTheGuard() throws Throwable {
		run();
		AtomicReference<@Nullable SurroundingTransaction> transaction = new AtomicReference<>();
		try (IdempotencyEngine inside = new IdempotencyEngine(1, this.node.events, this.node.ticker,
				transaction::get)) {
			assertThat(replay(inside, FINGERPRINT, this.node.memory)).isTrue();
			transaction.set(new OpenTransaction());
			assertThat(replay(inside, FINGERPRINT, this.node.memory)).isFalse();
		}
	}

	@Test
	void resultThatCannotBeReadIsLeftToTheGuard() throws Throwable {
		run();
		assertThat(this.node.engine.replayEarly(
				new GuardedCall(EngineFixture.KEY, FINGERPRINT, this.policy.build(), this.node.memory),
				LocalReplayTests::refuse))
			.isFalse();
		assertThat(this.node.events.count(IdempotencyEvent.REPLAYED)).isZero();
	}

	private static void refuse(StoredResult result) {
		throw new UnreadableResultException("Nobody reads " + result);
	}

	@Test
	void encryptedResultIsReplayedToWhoHasTheKey() throws Throwable {
		ResultEncryption encryption = new ResultEncryption(new AesGcmResultCipher("k1", Map.of("k1", new byte[32])),
				false);
		try (EngineFixture secret = new EngineFixture(encryption)) {
			secret.execute(this.policy, FINGERPRINT, TestAction.returning("one"));
			assertThat(replay(this.node.engine, FINGERPRINT, secret.memory)).isFalse();
			assertThat(this.replayed).isEmpty();
			assertThat(replay(secret.engine, FINGERPRINT, secret.memory)).isTrue();
			assertThat(this.replayed).hasSize(1).first().asString().contains("one");
		}
	}

}
