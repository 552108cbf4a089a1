package io.idempotency.engine;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Results of calls ↔ results of stores: the same where nothing is encrypted.
 * <p>
 * Whatever decides how a result is read is inside: {@code length of format:1 format
 * result} is what is encrypted. The context is the identity of the record. Never throws:
 * a result that cannot be had is told to the log, once for each operation and cause, and
 * is {@code null}.
 */
final class EncryptedResults {

	/** No codec of an application uses this for its own formats. */
	private static final String ANY_FORMAT = "idempotency.encrypted";

	static final String FORMAT = ANY_FORMAT + "1";

	private static final int MAX_FORMAT_LENGTH = 32;

	private static final byte[] CONTEXT = (FORMAT + ":").getBytes(StandardCharsets.US_ASCII);

	private final @Nullable ResultEncryption encryption;

	private final Events events;

	EncryptedResults(@Nullable ResultEncryption encryption, Events events) {
		this.encryption = encryption;
		this.events = events;
	}

	boolean encrypts() {
		return this.encryption != null;
	}

	/** What a store is given, {@code null} if it must not be given anything. */
	@Nullable StoredResult encrypt(GuardedCall call, StoredResult result) {
		if (this.encryption == null) {
			return result;
		}
		try {
			byte[] encrypted = this.encryption.cipher().encrypt(framed(result), context(call.key()));
			return new StoredResult(FORMAT, encrypted);
		}
		catch (Throwable ex) {
			// Errors too: after success nothing may delete the record, and never is a
			// result stored that should have been encrypted.
			this.events.resultNotEncrypted(call.operation(), ex);
			return null;
		}
	}

	/** What a store has given, {@code null} if nobody can or may read it. */
	@Nullable StoredResult decrypt(GuardedCall call, StoredResult stored) {
		boolean encrypted = stored.format().startsWith(ANY_FORMAT);
		if (this.encryption == null) {
			// A codec of the application may not look at formats.
			return encrypted ? unreadable(call, "it is encrypted, and no cipher is configured", null) : stored;
		}
		if (!encrypted) {
			return this.encryption.readsPlain() ? stored
					: unreadable(call, "it was stored without encryption, and such results are not read", null);
		}
		if (!stored.format().equals(FORMAT)) {
			return unreadable(call, "another version of this library has encrypted it", null);
		}
		try {
			return unframed(this.encryption.cipher().decrypt(stored.bytes(), context(call.key())));
		}
		catch (UnreadableResultException ex) {
			return unreadable(call, String.valueOf(ex.getMessage()), ex);
		}
		catch (VirtualMachineError ex) {
			throw ex;
		}
		catch (Throwable ex) {
			// Whatever a cipher throws, checked or not: the call has run, so that it is
			// neither run nor failed.
			return unreadable(call, "its cipher failed with " + ex.getClass().getName(), ex);
		}
	}

	private @Nullable StoredResult unreadable(GuardedCall call, String problem, @Nullable Throwable cause) {
		this.events.resultNotDecrypted(call.operation(), problem, cause);
		return null;
	}

	private static byte[] context(IdempotencyKey key) {
		byte[] hash = key.hash();
		return ByteBuffer.allocate(CONTEXT.length + hash.length).put(CONTEXT).put(hash).array();
	}

	private static byte[] framed(StoredResult result) {
		byte[] format = result.format().getBytes(StandardCharsets.UTF_8);
		return ByteBuffer.allocate(1 + format.length + result.bytes().length)
			.put((byte) format.length)
			.put(format)
			.put(result.bytes())
			.array();
	}

	private static StoredResult unframed(byte[] framed) {
		ByteBuffer buffer = ByteBuffer.wrap(framed);
		int length = buffer.hasRemaining() ? buffer.get() & 0xFF : 0;
		if (length == 0 || length > Math.min(buffer.remaining(), MAX_FORMAT_LENGTH)) {
			throw new UnreadableResultException("its cipher has given something else than it was given");
		}
		byte[] format = new byte[length];
		buffer.get(format);
		byte[] bytes = new byte[buffer.remaining()];
		buffer.get(bytes);
		return new StoredResult(new String(format, StandardCharsets.UTF_8), bytes);
	}

}
