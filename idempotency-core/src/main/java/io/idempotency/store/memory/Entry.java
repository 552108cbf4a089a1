package io.idempotency.store.memory;

import java.nio.ByteBuffer;
import java.util.Comparator;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import io.idempotency.store.Moment;
import io.idempotency.store.RecordId;
import io.idempotency.store.RecordState;
import io.idempotency.store.StoredRecord;

import org.jspecify.annotations.Nullable;

/**
 * One version of a record in the table. Each version has an instance of its own, and
 * instances are compared by identity.
 * <p>
 * Most records are finished ones. They take most of the memory, so a finished record has
 * its values in the fields of one object, and is put together when it is asked for.
 */
abstract class Entry {

	static final Comparator<Entry> BY_ID = (one, other) -> one.order(other.first, other.second, other.third,
			other.fourth);

	/**
	 * The bytes of a record without its result, measured on a 64-bit JVM with compressed
	 * references. A tombstone takes less, so that a claim has the room for its own.
	 */
	static final int OVERHEAD = 256;

	/** The bytes of a result besides its content. */
	static final int RESULT_OVERHEAD = 24;

	/**
	 * The bytes of a span and its trace. The name of the node is one text for all
	 * records.
	 */
	private static final int TRACE_OVERHEAD = 160;

	private final long first;

	private final long second;

	private final long third;

	private final long fourth;

	/** The text that all entries of an operation share. */
	private final String operation;

	/** The link of the table, guarded by the lock of its segment. */
	@Nullable Entry next;

	// Links of the queues, each guarded by the lock of the queue that the entry is in.

	RemovalOrder.@Nullable ExpiryQueue expiryQueue;

	@Nullable Entry expiresBefore;

	@Nullable Entry expiresAfter;

	@Nullable Entry completedBefore;

	@Nullable Entry completedAfter;

	private Entry(RecordId id, String operation) {
		this.first = id.first();
		this.second = id.second();
		this.third = id.third();
		this.fourth = id.fourth();
		this.operation = operation;
	}

	/**
	 * Creates the entry of a record.
	 * @param operation name of the operation
	 */
	static Entry of(RecordId id, String operation, StoredRecord record) {
		boolean finished = record.state() == RecordState.DONE || record.state() == RecordState.WITHOUT_RESULT;
		return finished ? new Finished(id, operation, record) : new Open(id, operation, record);
	}

	RecordId id() {
		return new RecordId(this.first, this.second, this.third, this.fourth);
	}

	/** Returns whether the id comes after another one, without making it. */
	boolean isAfter(RecordId id) {
		return order(id.first(), id.second(), id.third(), id.fourth()) > 0;
	}

	private int order(long first, long second, long third, long fourth) {
		int order = Long.compare(this.first, first);
		order = (order != 0) ? order : Long.compare(this.second, second);
		order = (order != 0) ? order : Long.compare(this.third, third);
		return (order != 0) ? order : Long.compare(this.fourth, fourth);
	}

	/** Returns the bits of the id that differ from record to record. */
	long spread() {
		return this.fourth;
	}

	boolean isOf(RecordId id) {
		return this.fourth == id.fourth() && this.third == id.third() && this.second == id.second()
				&& this.first == id.first();
	}

	String operation() {
		return this.operation;
	}

	abstract StoredRecord record();

	abstract long expiresAt();

	abstract ResultKind kind();

	abstract byte @Nullable [] result();

	abstract ClaimOrigin origin();

	abstract boolean isUnusedToken();

	boolean isLive(Moment moment) {
		return moment.isBefore(expiresAt());
	}

	/**
	 * Returns the kind that decides when the record makes room, {@code null} if it never
	 * does before its time.
	 */
	@Nullable ResultKind turn() {
		return (isForgettable() || result() != null) ? kind() : null;
	}

	/**
	 * Returns whether the record may be removed before its time, because the call was
	 * refused; the call then runs again.
	 */
	private boolean isForgettable() {
		return kind() == ResultKind.REFUSAL;
	}

	/**
	 * Returns the record that remains after this one has made room, {@code null} for
	 * none.
	 */
	@Nullable StoredRecord remainder() {
		return isForgettable() ? null : record().withoutResult();
	}

	/** Returns how many bytes the record frees when it makes room. */
	long roomBytes() {
		return isForgettable() ? bytes() : resultBytes();
	}

	private long resultBytes() {
		byte[] result = result();
		return (result != null) ? RESULT_OVERHEAD + result.length : 0;
	}

	long unusedTokenBytes() {
		return isUnusedToken() ? bytes() : 0;
	}

	long bytes() {
		int trace = (origin().traceId() != null) ? TRACE_OVERHEAD : 0;
		return OVERHEAD + trace + resultBytes();
	}

	/**
	 * A record that may take another step, so that its next version shares its objects.
	 */
	private static final class Open extends Entry {

		private final StoredRecord record;

		Open(RecordId id, String operation, StoredRecord record) {
			super(id, operation);
			this.record = record;
		}

		@Override
		StoredRecord record() {
			return this.record;
		}

		@Override
		long expiresAt() {
			return this.record.expiresAt();
		}

		@Override
		ResultKind kind() {
			return this.record.kind();
		}

		@Override
		byte @Nullable [] result() {
			return (this.record.result() != null) ? this.record.result().bytes() : null;
		}

		@Override
		ClaimOrigin origin() {
			return this.record.origin();
		}

		@Override
		boolean isUnusedToken() {
			return this.record.state() == RecordState.ISSUED;
		}

	}

	/**
	 * A finished record. No step of it needs a lease, a token or attempts any more.
	 */
	private static final class Finished extends Entry {

		private final long claimHigh;

		private final long claimLow;

		private final long fencingToken;

		private final long keptUntil;

		// The fingerprint, zero for none.

		private final long comparedFirst;

		private final long comparedSecond;

		private final long comparedThird;

		private final long comparedFourth;

		private final ResultKind kind;

		private final ClaimOrigin origin;

		private final @Nullable String format;

		private final byte @Nullable [] result;

		Finished(RecordId id, String operation, StoredRecord record) {
			super(id, operation);
			this.claimHigh = record.claimId().high();
			this.claimLow = record.claimId().low();
			this.fencingToken = record.fencingToken();
			this.keptUntil = record.expiresAt();
			Fingerprint compared = record.fingerprint();
			this.comparedFirst = compared.part(0);
			this.comparedSecond = compared.part(1);
			this.comparedThird = compared.part(2);
			this.comparedFourth = compared.part(3);
			this.kind = record.kind();
			this.origin = record.origin();
			StoredResult stored = record.result();
			this.format = (stored != null) ? stored.format() : null;
			this.result = (stored != null) ? stored.bytes() : null;
		}

		@Override
		StoredRecord record() {
			StoredResult stored = (this.format != null && this.result != null)
					? new StoredResult(this.format, this.result) : null;
			return new StoredRecord((stored != null) ? RecordState.DONE : RecordState.WITHOUT_RESULT,
					new ClaimId(this.claimHigh, this.claimLow), this.fencingToken, fingerprint(), 0, this.keptUntil, 0,
					0, stored, this.kind, this.origin);
		}

		private Fingerprint fingerprint() {
			if ((this.comparedFirst | this.comparedSecond | this.comparedThird | this.comparedFourth) == 0) {
				return Fingerprint.NONE;
			}
			return Fingerprint.fromBytes(ByteBuffer.allocate(4 * Long.BYTES)
				.putLong(this.comparedFirst)
				.putLong(this.comparedSecond)
				.putLong(this.comparedThird)
				.putLong(this.comparedFourth)
				.array());
		}

		@Override
		long expiresAt() {
			return this.keptUntil;
		}

		@Override
		ResultKind kind() {
			return this.kind;
		}

		@Override
		byte @Nullable [] result() {
			return this.result;
		}

		@Override
		ClaimOrigin origin() {
			return this.origin;
		}

		@Override
		boolean isUnusedToken() {
			return false;
		}

	}

}
