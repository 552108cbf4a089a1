package io.idempotency.protocol;

import java.time.Duration;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.StoreFailureMode;
import io.idempotency.engine.TestPolicy;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimType;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What a policy and a call accept.
 */
class IdempotencyPolicyTests {

	private static final Fingerprint ONE = Fingerprint.of("values1").add("one").build();

	@Test
	void defaultsAreThoseOfTheProperties() {
		IdempotencyPolicy defaults = IdempotencyPolicy.DEFAULTS;
		assertThat(defaults.mode()).isEqualTo(IdempotencyMode.REPLAY);
		assertThat(defaults.retention()).isEqualTo(Duration.ofHours(24));
		assertThat(defaults.lease()).isEqualTo(Duration.ofSeconds(30));
		assertThat(defaults.renewal()).isTrue();
		assertThat(defaults.conflict()).isEqualTo(ConflictMode.REJECT);
		assertThat(defaults.waitTimeout()).isEqualTo(Duration.ofSeconds(5));
		assertThat(defaults.onFailure()).isEqualTo(FailureMode.RELEASE);
		assertThat(defaults.onAbandoned()).isEqualTo(AbandonedMode.RERUN);
		assertThat(defaults.onStoreFailure()).isEqualTo(StoreFailureMode.REJECT);
	}

	@Test
	void builderTakesEachSettingAndGoesOn() {
		IdempotencyPolicy policy = IdempotencyPolicy.DEFAULTS.change()
			.operation("orders.pay")
			.mode(IdempotencyMode.REJECT)
			.retention(Duration.ofDays(7))
			.lease(Duration.ofSeconds(9))
			.renewal(false)
			.conflict(ConflictMode.WAIT)
			.waitTimeout(Duration.ofSeconds(1))
			.onFailure(FailureMode.REMEMBER)
			.onAbandoned(AbandonedMode.REFUSE)
			.recoverable(true)
			.keepsResult(false)
			.onStoreFailure(StoreFailureMode.PROCEED)
			.operation("orders.refund")
			.build();
		assertThat(policy.operation()).isEqualTo("orders.refund");
		assertThat(policy.mode()).isEqualTo(IdempotencyMode.REJECT);
		assertThat(policy.retention()).isEqualTo(Duration.ofDays(7));
		assertThat(policy.lease()).isEqualTo(Duration.ofSeconds(9));
		assertThat(policy.renewal()).isFalse();
		assertThat(policy.conflict()).isEqualTo(ConflictMode.WAIT);
		assertThat(policy.waitTimeout()).isEqualTo(Duration.ofSeconds(1));
		assertThat(policy.onFailure()).isEqualTo(FailureMode.REMEMBER);
		assertThat(policy.onAbandoned()).isEqualTo(AbandonedMode.REFUSE);
		assertThat(policy.recoverable()).isTrue();
		assertThat(policy.keepsResult()).isFalse();
		assertThat(policy.onStoreFailure()).isEqualTo(StoreFailureMode.PROCEED);
	}

	@Test
	void claimIsForOnceInModeRejectOnly() {
		IdempotencyKey key = IdempotencyKey.of("o", Caller.GLOBAL, "k");
		assertThat(claimed(call(key, TestPolicy.replay()))).isEqualTo(ClaimType.LEASED);
		assertThat(claimed(call(key, TestPolicy.mode(IdempotencyMode.LOCK)))).isEqualTo(ClaimType.LEASED);
		assertThat(claimed(call(key, TestPolicy.mode(IdempotencyMode.REJECT)))).isEqualTo(ClaimType.ONCE);
	}

	private static ClaimType claimed(GuardedCall call) {
		return call.claim(ClaimOrigin.UNKNOWN).type();
	}

	@Test
	void durationsMustBePositive() {
		for (Duration wrong : new Duration[] { Duration.ZERO, Duration.ofSeconds(-1) }) {
			assertThatIllegalArgumentException().isThrownBy(() -> TestPolicy.replay().lease(wrong).build())
				.withMessageStartingWith("lease must be positive");
			assertThatIllegalArgumentException().isThrownBy(() -> TestPolicy.replay().retention(wrong).build())
				.withMessageStartingWith("retention must be positive");
			assertThatIllegalArgumentException().isThrownBy(() -> TestPolicy.replay().waiting(wrong).build())
				.withMessageStartingWith("waitTimeout must be positive");
		}
	}

	@Test
	void operationMustHaveAName() {
		assertThatIllegalArgumentException().isThrownBy(() -> TestPolicy.replay().operation("").build());
	}

	@Test
	void defaultLeavesWhatWasChosenBefore() {
		IdempotencyPolicy chosen = IdempotencyPolicy.DEFAULTS.change()
			.conflict(ConflictMode.REJECT)
			.onFailure(FailureMode.REMEMBER)
			.build();
		IdempotencyPolicy changed = chosen.change()
			.conflict(ConflictMode.DEFAULT)
			.onFailure(FailureMode.DEFAULT)
			.build();
		assertThat(changed.conflict()).isEqualTo(ConflictMode.REJECT);
		assertThat(changed.onFailure()).isEqualTo(FailureMode.REMEMBER);
	}

	@Test
	void abandonedClaimIsTakenOverUnlessThatIsRefusedAndNothingRecovers() {
		assertThat(TestPolicy.replay().build().mayTakeOver()).isTrue();
		assertThat(TestPolicy.replay().refusing().build().mayTakeOver()).isFalse();
		assertThat(TestPolicy.replay().refusing().recoverable().build().mayTakeOver()).isTrue();
	}

	@Test
	void modesThatCompareNothingHaveNoFingerprint() {
		IdempotencyKey key = IdempotencyKey.of("o", Caller.GLOBAL, "k");
		assertThat(call(key, TestPolicy.replay()).fingerprint()).isEqualTo(ONE);
		assertThat(call(key, TestPolicy.mode(IdempotencyMode.LOCK)).fingerprint()).isSameAs(Fingerprint.NONE);
		assertThat(call(key, TestPolicy.mode(IdempotencyMode.REJECT)).fingerprint()).isSameAs(Fingerprint.NONE);
	}

	@Test
	void fingerprintOfATokenNamesTheOperation() {
		IdempotencyKey token = IdempotencyKey.ofToken(Caller.GLOBAL, "t");
		Fingerprint create = call(token, TestPolicy.replay()).fingerprint();
		assertThat(create.matches(ONE)).isFalse();
		assertThat(create).isEqualTo(call(token, TestPolicy.replay()).fingerprint());
		assertThat(create.matches(call(token, TestPolicy.replay().operation("orders.pay")).fingerprint())).isFalse();
	}

	private static GuardedCall call(IdempotencyKey key, TestPolicy policy) {
		return new GuardedCall(key, ONE, policy.build(), new MemoryIdempotencyStore(1_000_000));
	}

}
