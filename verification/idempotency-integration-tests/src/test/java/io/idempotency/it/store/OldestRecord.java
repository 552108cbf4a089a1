package io.idempotency.it.store;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A record as the first version stored it: an answer that is kept until the year 2200.
 * The bytes never change. A version that cannot read them makes retries of older calls
 * run again, or rejects them.
 */
public final class OldestRecord {

	public static final String OPERATION = "order.place";

	public static final byte[] KEY_HASH = hex("d21152a4c443e6b895aa11cab83ee7513fff2b9e18377dfe6833e47ec3283bd6");

	public static final byte[] CLAIM_ID = hex("000102030405060708090a0b0c0d0e0f");

	public static final long FENCE = 1_767_225_600_000_000L;

	public static final byte[] FINGERPRINT = hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");

	public static final long KEPT_UNTIL = 7_258_118_400_000_000L;

	public static final String FORMAT = "h3";

	public static final byte[] ANSWER = hex("04c911" + "6170706c69636174696f6e2f6a736f6e"
			+ "0101084c6f636174696f6e01092f6f72646572732f37" + "087b226964223a377d");

	/** The name in Redis, after the prefix. */
	public static final String REDIS_KEY = "order.place:d21152a4c443e6b895aa11cab83ee7513fff2b9e18377dfe6833e47ec3283bd6";

	private static final String REDIS_COMPARED = "20e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
			+ "00";

	/** The value in Redis: the head, then the answer. */
	public static final byte[] REDIS_VALUE = hex("0344" + "08090a0b0c0d0e0f" + "0006474846204000" + "0019c93860f84000"
			+ REDIS_COMPARED + "026833" + "04c911" + "6170706c69636174696f6e2f6a736f6e"
			+ "0101084c6f636174696f6e01092f6f72646572732f37" + "087b226964223a377d");

	/** The value in Redis while the call ran, with a lease that is over. */
	public static final byte[] REDIS_RUNNING = hex(
			"0352" + "00" + "000102030405060708090a0b0c0d0e0f" + "0006474846204000" + "0000000000000000"
					+ "0019c93860f84000" + "0000000000000000" + "0000000000000000" + REDIS_COMPARED);

	private OldestRecord() {
	}

	/** Asks a store that has the record. */
	public static void assertReplayedBy(IdempotencyStore store) {
		ClaimResult replay = store.claim(claim(Fingerprint.fromBytes(FINGERPRINT)));
		assertThat(replay).isInstanceOfSatisfying(ClaimResult.Completed.class, (completed) -> {
			assertThat(completed.result().format()).isEqualTo(FORMAT);
			assertThat(completed.result().bytes()).isEqualTo(ANSWER);
			assertThat(completed.rest()).isPositive();
		});
		Fingerprint other = Fingerprint.of("test1").add("another request".getBytes(StandardCharsets.UTF_8)).build();
		assertThat(store.claim(claim(other))).isInstanceOf(ClaimResult.KeyReused.class);
	}

	private static ClaimRequest claim(Fingerprint fingerprint) {
		IdempotencyKey key = IdempotencyKey.of(OPERATION, Caller.principal("alice"), "k-1");
		return ClaimRequest.of(key, Duration.ofMinutes(1), Duration.ofDays(1)).withFingerprint(fingerprint);
	}

	private static byte[] hex(String digits) {
		return HexFormat.of().parseHex(digits);
	}

}
