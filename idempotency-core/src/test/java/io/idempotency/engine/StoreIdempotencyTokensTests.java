package io.idempotency.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.Base64;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.IssuedToken;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tokens, from their issue to their use.
 */
class StoreIdempotencyTokensTests {

	private static final Caller ALICE = Caller.principal("alice");

	private final TestPolicy policy = TestPolicy.replay();

	private final EngineFixture node = new EngineFixture();

	private final StoreIdempotencyTokens tokens = new StoreIdempotencyTokens(this.node.store, Duration.ofMinutes(10),
			() -> ALICE, Namespace.NONE);

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void tokenHas192BitsThatAreNeverTheSame() {
		Set<String> seen = new HashSet<>();
		BitSet ones = new BitSet();
		BitSet zeros = new BitSet();
		for (int i = 0; i < 200; i++) {
			IssuedToken issued = this.tokens.issue();
			assertThat(issued.token()).matches("[A-Za-z0-9_-]{32}");
			byte[] bytes = Base64.getUrlDecoder().decode(issued.token());
			assertThat(bytes).hasSize(24);
			BitSet bits = BitSet.valueOf(bytes);
			ones.or(bits);
			bits.flip(0, 192);
			zeros.or(bits);
			seen.add(issued.token());
		}
		assertThat(seen).hasSize(200);
		assertThat(ones.cardinality()).isEqualTo(192);
		assertThat(zeros.cardinality()).isEqualTo(192);
	}

	@Test
	void tokenExpiresByTheStoresClock() {
		assertThat(this.tokens.issue().expiresAt()).isEqualTo(this.node.clock.instant().plus(Duration.ofMinutes(10)));
		assertThat(this.node.store.sequence()).containsExactly(Verb.ISSUE);
	}

	@Test
	void storeThatFailsIsUnavailable() {
		this.node.store.failBefore(Verb.ISSUE, 1);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this.tokens::issue)
			.satisfies((ex) -> assertThat(ex.operation()).isEqualTo("token"));
	}

	@Test
	void callerThatCannotBeFoundIsNoFailureOfTheStore() {
		StoreIdempotencyTokens broken = new StoreIdempotencyTokens(this.node.store, Duration.ofMinutes(10), () -> {
			throw new IllegalStateException("no request");
		}, Namespace.NONE);
		assertThatIllegalStateException().isThrownBy(broken::issue).withMessage("no request");
	}

	@Test
	void tokenThatWasNeverIssuedIsUnknown() {
		TestAction<String> door = TestAction.returning("one");
		assertThatExceptionOfType(IdempotencyTokenUnknownException.class)
			.isThrownBy(() -> execute(this.policy, ALICE, "made-up", door));
		assertThat(door.runs()).isZero();
		assertThat(this.node.store.sequence()).containsExactly(Verb.CLAIM);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.TOKEN_UNKNOWN);
	}

	@Test
	void tokenOfAnotherCallerIsUnknown() {
		String token = this.tokens.issue().token();
		assertThatExceptionOfType(IdempotencyTokenUnknownException.class)
			.isThrownBy(() -> execute(this.policy, Caller.principal("bob"), token, TestAction.returning("one")));
	}

	@Test
	void expiredTokenIsUnknown() {
		String token = this.tokens.issue().token();
		this.node.clock.advance(Duration.ofMinutes(10));
		assertThatExceptionOfType(IdempotencyTokenUnknownException.class)
			.isThrownBy(() -> execute(this.policy, ALICE, token, TestAction.returning("one")));
	}

	@Test
	void tokenIsUsedOnceAndThenReplayed() throws Throwable {
		String token = this.tokens.issue().token();
		assertThat(execute(this.policy, ALICE, token, TestAction.returning("one"))).isEqualTo("one");
		this.node.clock.advance(Duration.ofMinutes(11));
		TestAction<String> duplicate = TestAction.returning("two");
		assertThat(execute(this.policy, ALICE, token, duplicate)).isEqualTo("one");
		assertThat(duplicate.runs()).isZero();
		assertThat(this.node.store.sequence()).containsExactly(Verb.ISSUE, Verb.CLAIM, Verb.COMPLETE, Verb.CLAIM);
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED);
	}

	@Test
	void tokenIsGivenBackByAFailedCall() throws Throwable {
		String token = this.tokens.issue().token();
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> execute(this.policy, ALICE, token, TestAction.throwing(new IOException())));
		assertThat(execute(this.policy.operation("orders.pay"), ALICE, token, TestAction.returning("two")))
			.isEqualTo("two");
	}

	@Test
	void tokenThatWasGivenBackKeepsItsExpiry() {
		String token = this.tokens.issue().token();
		this.node.clock.advance(Duration.ofMinutes(9));
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> execute(this.policy, ALICE, token, TestAction.throwing(new IOException())));
		this.node.clock.advance(Duration.ofMinutes(1));
		assertThatExceptionOfType(IdempotencyTokenUnknownException.class)
			.isThrownBy(() -> execute(this.policy, ALICE, token, TestAction.returning("two")));
	}

	@Test
	void tokenUsedAtAnotherOperationIsReused() throws Throwable {
		String token = this.tokens.issue().token();
		execute(this.policy, ALICE, token, TestAction.returning("one"));
		assertThatExceptionOfType(IdempotencyKeyReusedException.class).isThrownBy(
				() -> execute(TestPolicy.replay().operation("orders.pay"), ALICE, token, TestAction.returning("two")));
	}

	@Test
	void tokenUsedAtAnotherOperationThatLocksIsReused() throws Throwable {
		String token = this.tokens.issue().token();
		execute(TestPolicy.mode(IdempotencyMode.LOCK), ALICE, token, TestAction.running(() -> {
			assertThatExceptionOfType(IdempotencyKeyReusedException.class)
				.isThrownBy(() -> execute(TestPolicy.mode(IdempotencyMode.LOCK).operation("orders.pay"), ALICE, token,
						TestAction.returning("two")));
			return "one";
		}));
		assertThat(this.node.events.count(IdempotencyEvent.EXECUTED)).isOne();
	}

	@Test
	void tokenUsedForAnotherRequestIsReused() throws Throwable {
		String token = this.tokens.issue().token();
		execute(this.policy, ALICE, token, TestAction.returning("one"), "a");
		assertThat(execute(this.policy, ALICE, token, TestAction.returning("two"), "a")).isEqualTo("one");
		assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> execute(this.policy, ALICE, token, TestAction.returning("two"), "b"));
	}

	@Test
	void tokenOfModeRejectIsADuplicateTheSecondTime() throws Throwable {
		TestPolicy reject = TestPolicy.mode(IdempotencyMode.REJECT);
		String token = this.tokens.issue().token();
		execute(reject, ALICE, token, TestAction.returning("one"));
		assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> execute(reject, ALICE, token, TestAction.returning("two")));
	}

	@Test
	void lostReplyOfTheUseOfATokenFindsItself() throws Throwable {
		String token = this.tokens.issue().token();
		this.node.store.failAfter(Verb.CLAIM, 1);
		assertThat(execute(this.policy, ALICE, token, TestAction.returning("one"))).isEqualTo("one");
	}

	private String execute(TestPolicy policy, Caller caller, String token, TestAction<String> door) throws Throwable {
		return execute(policy, caller, token, door, "request");
	}

	private String execute(TestPolicy policy, Caller caller, String token, TestAction<String> door, String request)
			throws Throwable {
		GuardedCall call = new GuardedCall(IdempotencyKey.ofToken(caller, token),
				Fingerprint.of("values1").add(request).build(), policy.build(), this.node.store);
		return this.node.engine.execute(call, door);
	}

}
