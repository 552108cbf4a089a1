package io.idempotency.test;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Moment;
import io.idempotency.store.RecordState;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;

/** A custom store in less than 200 lines: one file for each record, for one process. */
class FileIdempotencyStoreTests extends IdempotencyStoreContract {

	private final MutableClock clock = new MutableClock();

	@TempDir
	private Path directory;

	private @Nullable IdempotencyStore store;

	@Override
	public IdempotencyStore store() {
		if (this.store == null) {
			this.store = new FileStore(this.directory, this.clock);
		}
		return this.store;
	}

	@Override
	public void elapse(Duration duration) {
		this.clock.advance(duration);
	}

	@Override
	public int rounds() {
		return 2;
	}

	@Override
	public boolean findsResults() {
		return false;
	}

	/** {@link StoredRecord} has the state table, so a store only reads and writes. */
	private static final class FileStore implements IdempotencyStore {

		private final Path directory;

		private final Clock clock;

		private final AtomicLong lastFencingToken = new AtomicLong();

		FileStore(Path directory, Clock clock) {
			this.directory = directory;
			this.clock = clock;
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			return step(request.key(), (record, now) -> record.claim(request, now));
		}

		@Override
		public boolean complete(Completion completion) {
			return step(completion.claim().key(), (record, now) -> record.complete(completion, now));
		}

		@Override
		public boolean release(IdempotencyKey key, ClaimId claimId) {
			return step(key, (record, now) -> record.release(claimId, now));
		}

		@Override
		public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
			return step(key, (record, now) -> record.renew(claimId, lease, now));
		}

		@Override
		public Instant issue(IdempotencyKey token, Duration timeToLive) {
			if (!token.isToken()) {
				throw new IllegalArgumentException("Only a token can be issued");
			}
			return Moment.toInstant(step(token, (record, now) -> record.issue(timeToLive, now)));
		}

		private synchronized <T> T step(IdempotencyKey key,
				BiFunction<StoredRecord, Moment, StoredRecord.Transition<T>> transition) {
			Moment now = new Moment(ChronoUnit.MICROS.between(Instant.EPOCH, this.clock.instant()),
					this.lastFencingToken);
			Path file = this.directory.resolve(key.hashHex());
			try {
				StoredRecord read = Files.exists(file) ? read(file) : StoredRecord.ABSENT;
				StoredRecord before = read.isLive(now) ? read : StoredRecord.ABSENT;
				StoredRecord.Transition<T> done = transition.apply(before, now);
				if (done.next().state() == RecordState.ABSENT) {
					Files.deleteIfExists(file);
				}
				else if (done.next() != before) {
					write(done.next(), file);
				}
				return done.answer();
			}
			catch (IOException ex) {
				throw new IdempotencyStoreException("The file store failed", ex);
			}
		}

		private void write(StoredRecord record, Path file) throws IOException {
			Path next = this.directory.resolve("next");
			try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(next))) {
				out.writeUTF(record.state().name());
				out.writeLong(record.claimId().high());
				out.writeLong(record.claimId().low());
				out.writeLong(record.fencingToken());
				writeBytes(record.fingerprint().toBytes(), out);
				out.writeLong(record.leaseUntil());
				out.writeLong(record.keptUntil());
				out.writeLong(record.tokenUntil());
				out.writeLong(record.attempts());
				StoredResult result = record.result();
				out.writeUTF((result != null) ? result.format() : "");
				writeBytes((result != null) ? result.bytes() : new byte[0], out);
				out.writeUTF(record.kind().name());
				out.writeUTF(record.origin().toString());
			}
			Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
		}

		private static StoredRecord read(Path file) throws IOException {
			try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
				return new StoredRecord(RecordState.valueOf(in.readUTF()), new ClaimId(in.readLong(), in.readLong()),
						in.readLong(), Fingerprint.fromBytes(in.readNBytes(in.readInt())), in.readLong(), in.readLong(),
						in.readLong(), in.readLong(), result(in.readUTF(), in.readNBytes(in.readInt())),
						ResultKind.valueOf(in.readUTF()), ClaimOrigin.parse(in.readUTF()));
			}
		}

		private static void writeBytes(byte[] bytes, DataOutputStream out) throws IOException {
			out.writeInt(bytes.length);
			out.write(bytes);
		}

		private static @Nullable StoredResult result(String format, byte[] bytes) {
			return format.isEmpty() ? null : new StoredResult(format, bytes);
		}

	}

}
