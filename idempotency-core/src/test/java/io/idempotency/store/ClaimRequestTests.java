package io.idempotency.store;

import java.time.Duration;
import java.util.stream.Stream;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

class ClaimRequestTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration RETENTION = Duration.ofHours(24);

	private static final IdempotencyKey KEY = IdempotencyKey.of("orders", Caller.GLOBAL, "key");

	private static final ClaimId ID = ClaimId.random();

	/** Differs from the usual request in every component that can be changed. */
	private static final ClaimRequest OTHER = new ClaimRequest(KEY, ClaimId.random(),
			Fingerprint.of("test1").add("other").build(), ClaimType.ONCE, Duration.ofSeconds(5), Duration.ofHours(2),
			false, new ClaimOrigin("node", "trace", "span"), true);

	private static final ClaimRequest USUAL = ClaimRequest.of(KEY, LEASE, RETENTION).withClaimId(ID);

	@Test
	void usualRequestIsLeasedAndMayTakeOver() {
		assertThat(USUAL).isEqualTo(new ClaimRequest(KEY, ID, Fingerprint.NONE, ClaimType.LEASED, LEASE, RETENTION,
				true, ClaimOrigin.UNKNOWN));
	}

	@Test
	void everyRequestIsThatOfAnotherClaim() {
		assertThat(ClaimRequest.of(KEY, LEASE, RETENTION).claimId())
			.isNotEqualTo(ClaimRequest.of(KEY, LEASE, RETENTION).claimId());
	}

	@ParameterizedTest
	@MethodSource
	void changeLeavesTheRest(String component, ClaimRequest changed) {
		assertThat(changed).usingRecursiveComparison().ignoringFields(component).isEqualTo(USUAL);
		assertThat(changed).usingRecursiveComparison().comparingOnlyFields(component).isEqualTo(OTHER);
	}

	static Stream<Arguments> changeLeavesTheRest() {
		return Stream.of(arguments("claimId", USUAL.withClaimId(OTHER.claimId())),
				arguments("fingerprint", USUAL.withFingerprint(OTHER.fingerprint())),
				arguments("type", USUAL.withType(OTHER.type())), arguments("lease", USUAL.withLease(OTHER.lease())),
				arguments("retention", USUAL.withRetention(OTHER.retention())),
				arguments("takeOver", USUAL.withTakeOver(OTHER.takeOver())),
				arguments("origin", USUAL.withOrigin(OTHER.origin())),
				arguments("newTransaction", USUAL.withNewTransaction(true)));
	}

	@Test
	void timesMustBePositive() {
		assertThatIllegalArgumentException().isThrownBy(() -> USUAL.withLease(Duration.ZERO))
			.withMessageContaining("lease");
		assertThatIllegalArgumentException().isThrownBy(() -> USUAL.withRetention(Duration.ofSeconds(-1)))
			.withMessageContaining("retention");
	}

}
