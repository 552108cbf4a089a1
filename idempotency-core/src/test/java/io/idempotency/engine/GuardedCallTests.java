package io.idempotency.engine;

import io.idempotency.IdempotencyMode;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimType;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class GuardedCallTests {

	private static final Fingerprint ONE = Fingerprint.of("values1").add("one").build();

	private static final IdempotencyKey KEY = IdempotencyKey.of("o", Caller.GLOBAL, "k");

	@Test
	void claimIsForOnceInModeRejectOnly() {
		assertThat(claimed(call(KEY, TestPolicy.replay()))).isEqualTo(ClaimType.LEASED);
		assertThat(claimed(call(KEY, TestPolicy.mode(IdempotencyMode.LOCK)))).isEqualTo(ClaimType.LEASED);
		assertThat(claimed(call(KEY, TestPolicy.mode(IdempotencyMode.REJECT)))).isEqualTo(ClaimType.ONCE);
	}

	private static ClaimType claimed(GuardedCall call) {
		return claim(call).type();
	}

	private static ClaimRequest claim(GuardedCall call) {
		return call.claim(ClaimOrigin.UNKNOWN);
	}

	@Test
	void abandonedClaimIsTakenOverUnlessThatIsRejectedAndNothingRecovers() {
		assertThat(claim(call(KEY, TestPolicy.replay())).takeOver()).isTrue();
		assertThat(claim(call(KEY, TestPolicy.replay().rejecting())).takeOver()).isFalse();
		assertThat(claim(call(KEY, TestPolicy.replay().rejecting().recoverable())).takeOver()).isTrue();
	}

	@Test
	void modesThatCompareNothingHaveNoFingerprint() {
		assertThat(call(KEY, TestPolicy.replay()).fingerprint()).isEqualTo(ONE);
		assertThat(call(KEY, TestPolicy.mode(IdempotencyMode.LOCK)).fingerprint()).isSameAs(Fingerprint.NONE);
		assertThat(call(KEY, TestPolicy.mode(IdempotencyMode.REJECT)).fingerprint()).isSameAs(Fingerprint.NONE);
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
