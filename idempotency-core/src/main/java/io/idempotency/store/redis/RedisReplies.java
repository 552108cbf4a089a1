package io.idempotency.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;

import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.StoredResult;

/**
 * Reads the reply of {@code claim.lua}: the number of the answer, a number that belongs
 * to the answer, and for a result its format and body.
 */
final class RedisReplies {

	private RedisReplies() {
	}

	static boolean isAcquired(List<?> reply) {
		long what = (Long) reply.get(0);
		return what == 1 || what == 2;
	}

	static ClaimResult claim(ClaimRequest request, List<?> reply) {
		int what = Math.toIntExact((Long) reply.get(0));
		long number = (Long) reply.get(1);
		switch (what) {
			case 1:
				return acquired(request, number, false);
			case 2:
				return acquired(request, number, true);
			case 3:
				return new ClaimResult.InProgress(micros(number));
			case 4:
				String format = new String((byte[]) reply.get(2), StandardCharsets.US_ASCII);
				return new ClaimResult.Completed(new StoredResult(format, (byte[]) reply.get(3)), micros(number));
			case 5:
				return new ClaimResult.Tombstone();
			case 6:
				return new ClaimResult.Mismatch();
			case 7:
				return new ClaimResult.Abandoned();
			case 8:
				return new ClaimResult.Duplicate(number);
			case 9:
				return new ClaimResult.UnknownToken();
			default:
				throw new IllegalStateException("Unknown reply " + what);
		}
	}

	private static ClaimResult acquired(ClaimRequest request, long fence, boolean abandoned) {
		return new ClaimResult.Acquired(new Claim(request.key(), request.claimId(), fence, abandoned));
	}

	private static Duration micros(long micros) {
		return Duration.of(micros, ChronoUnit.MICROS);
	}

}
