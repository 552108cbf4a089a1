package io.idempotency.store.redis;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.IdempotencyRecord;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.RecordKey;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.store.Moment;
import io.idempotency.store.RecordState;
import io.idempotency.store.RecordView;
import io.idempotency.store.StoredRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads the replies of scripts. The reply of {@code claim.lua} is the number of the
 * result and a number that belongs to the result. A stored result is followed by the end
 * of its record, from the origin of its claim on. A takeover is followed by the origin of
 * the previous claim. This class also reads a record that no script has read.
 */
final class RedisReplies {

	/** The flags of a running record that no call owns. */
	private static final long ORPHANED = 3;

	private static final byte VERSION = 3;

	private static final byte DONE = 'D';

	private static final int KEPT_UNTIL = 18;

	/** Where the fields of a finished record begin that have a length. */
	private static final int HEAD = 26;

	private RedisReplies() {
	}

	static ClaimResult claim(ClaimRequest request, byte[] reply) {
		ByteBuffer fields = ByteBuffer.wrap(reply);
		int what = fields.get();
		long number = fields.getLong();
		return switch (what) {
			case 1 -> new ClaimResult.Acquired(new Claim(request.key(), request.claimId(), number, false));
			case 2 ->
				new ClaimResult.Acquired(new Claim(request.key(), request.claimId(), number, true), origin(fields));
			case 3 -> new ClaimResult.InProgress(micros(number));
			case 4 -> {
				ClaimOrigin origin = origin(fields);
				yield new ClaimResult.Completed(result(fields), micros(number), origin);
			}
			case 5 -> new ClaimResult.ResultUnavailable();
			case 6 -> new ClaimResult.KeyReused();
			case 7 -> new ClaimResult.Abandoned();
			case 8 -> new ClaimResult.Duplicate(number);
			case 9 -> new ClaimResult.UnknownToken();
			default -> throw new IllegalStateException("Unknown reply " + what);
		};
	}

	/**
	 * Returns the result in a record with the layout of {@code record.lua}. The server
	 * does not return expired records. A record that is expired by the clock of this JVM,
	 * or is not a completed record of this version, is left to the scripts.
	 * @param record the record, {@code null} if it does not exist
	 * @param asked the fingerprint of the claim that would be sent
	 * @param now the time of this JVM
	 */
	static Optional<ClaimResult.Completed> found(byte @Nullable [] record, Fingerprint asked, Instant now) {
		if (record == null || record.length < HEAD || record[0] != VERSION || record[1] != DONE) {
			return Optional.empty();
		}
		try {
			ByteBuffer fields = ByteBuffer.wrap(record).position(HEAD);
			Fingerprint fingerprint = Fingerprint.fromBytes(next(fields));
			ClaimOrigin origin = origin(fields);
			StoredResult result = result(fields);
			StoredRecord stored = new StoredRecord(RecordState.DONE, StoredRecord.NO_ID, 0, fingerprint, 0,
					fields.getLong(KEPT_UNTIL), 0, 0, result, ResultKind.SUCCESS, origin);
			Moment moment = new Moment(ChronoUnit.MICROS.between(Instant.EPOCH, now), new AtomicLong());
			return stored.isLive(moment) ? stored.find(asked, moment) : Optional.empty();
		}
		catch (BufferUnderflowException | IllegalArgumentException ex) {
			return Optional.empty();
		}
	}

	private static ClaimOrigin origin(ByteBuffer fields) {
		return ClaimOrigin.parse(ascii(next(fields)));
	}

	private static StoredResult result(ByteBuffer fields) {
		String format = ascii(next(fields));
		return new StoredResult(format, next(fields, fields.remaining()));
	}

	private static byte[] next(ByteBuffer fields) {
		return next(fields, Byte.toUnsignedInt(fields.get()));
	}

	private static byte[] next(ByteBuffer fields, int length) {
		byte[] field = new byte[length];
		fields.get(field);
		return field;
	}

	private static String ascii(byte[] text) {
		return new String(text, StandardCharsets.US_ASCII);
	}

	/**
	 * Reads the reply of {@code find.lua}: the parts of a record and the time.
	 * @return the record, {@code null} if it does not exist
	 */
	static @Nullable IdempotencyRecord record(RecordKey key, List<?> reply) {
		if (reply.isEmpty()) {
			return null;
		}
		String letter = ascii((byte[]) reply.get(0));
		StoredRecord record = RecordView.read(state(letter, number(reply, 1)), number(reply, 2), number(reply, 3),
				number(reply, 4), number(reply, 5), ClaimOrigin.parse(ascii((byte[]) reply.get(7))));
		return RecordView.of(key.label(), key.hash(), record, new Moment(number(reply, 6), new AtomicLong()));
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
		if (flags == ORPHANED) {
			return RecordState.ORPHANED;
		}
		return (flags == 0) ? RecordState.RUNNING : RecordState.TAKEN_OVER;
	}

	private static Duration micros(long micros) {
		return Duration.of(micros, ChronoUnit.MICROS);
	}

}
