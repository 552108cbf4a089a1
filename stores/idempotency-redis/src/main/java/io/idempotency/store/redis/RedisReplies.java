package io.idempotency.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.IdempotencyRecord;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.RecordKey;
import io.idempotency.store.StoredResult;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.store.record.Moment;
import io.idempotency.store.record.RecordState;
import io.idempotency.store.record.RecordView;
import io.idempotency.store.record.StoredRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads the replies of scripts. That of {@code claim.lua} is the number of the answer, a
 * number that belongs to the answer, for a result its format, its body and the origin of
 * its claim, and for a take-over the origin of the claim before.
 */
final class RedisReplies {

	/** The flags of a running record that no call owns. */
	private static final long NOBODYS = 3;

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
				return new ClaimResult.Acquired(new Claim(request.key(), request.claimId(), number, false));
			case 2:
				return new ClaimResult.Acquired(new Claim(request.key(), request.claimId(), number, true),
						origin(reply, 2));
			case 3:
				return new ClaimResult.InProgress(micros(number));
			case 4:
				return completed(reply);
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

	static ClaimResult.Completed completed(List<?> reply) {
		String format = new String((byte[]) reply.get(2), StandardCharsets.US_ASCII);
		return new ClaimResult.Completed(new StoredResult(format, (byte[]) reply.get(3)), micros(number(reply, 1)),
				origin(reply, 4));
	}

	/**
	 * Reads the reply of {@code find.lua}: the parts of a record and the time.
	 * @return the record, {@code null} if there is none
	 */
	static @Nullable IdempotencyRecord record(RecordKey key, List<?> reply) {
		if (reply.isEmpty()) {
			return null;
		}
		String letter = new String((byte[]) reply.get(0), StandardCharsets.US_ASCII);
		StoredRecord record = RecordView.read(state(letter, number(reply, 1)), number(reply, 2), number(reply, 3),
				number(reply, 4), number(reply, 5), origin(reply, 7));
		return RecordView.of(key.label(), key.hash(), record, new Moment(number(reply, 6), new AtomicLong()));
	}

	private static ClaimOrigin origin(List<?> reply, int index) {
		return ClaimOrigin.parse(new String((byte[]) reply.get(index), StandardCharsets.US_ASCII));
	}

	private static long number(List<?> reply, int index) {
		return (Long) reply.get(index);
	}

	/**
	 * Returns the state; the scripts keep the states of a running record in its flags.
	 */
	private static RecordState state(String letter, long flags) {
		for (RecordState state : RecordState.values()) {
			if (state.letter().equals(letter)) {
				return (state == RecordState.RUNNING) ? running(flags) : state;
			}
		}
		throw new UnreadableRecordException("A record in state '" + letter + "' cannot be read by this version", null);
	}

	private static RecordState running(long flags) {
		if (flags == NOBODYS) {
			return RecordState.NOBODYS;
		}
		return (flags == 0) ? RecordState.RUNNING : RecordState.TAKEN_OVER;
	}

	private static Duration micros(long micros) {
		return Duration.of(micros, ChronoUnit.MICROS);
	}

}
