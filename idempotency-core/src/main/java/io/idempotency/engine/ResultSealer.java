package io.idempotency.engine;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.idempotency.codec.ResultEncryption;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Turns the results of calls into the results that are stored, and back. Without
 * encryption both are the same.
 * <p>
 * The format decides how a result is read, so it is encrypted together with the result:
 * the plain text is {@code length of format:1 format result}. The context consists of the
 * name of the encrypted format and the identity of the record.
 * <p>
 * If a result cannot be encrypted or decrypted, the methods return {@code null} and log
 * one warning for each operation and cause. The only exception that they throw is a
 * {@link VirtualMachineError} of the decryption.
 */
final class ResultSealer {

	/**
	 * The prefix of the names of all encrypted formats. A codec of an application must
	 * not use it for its formats.
	 */
	private static final String ANY_FORMAT = "idempotency.encrypted";

	static final String FORMAT = ANY_FORMAT + "1";

	private static final int MAX_FORMAT_LENGTH = 32;

	private static final byte[] CONTEXT = (FORMAT + ":").getBytes(StandardCharsets.US_ASCII);

	private final @Nullable ResultEncryption encryption;

	private final EventPublisher log;

	public ResultSealer(@Nullable ResultEncryption encryption, EventPublisher log) {
		this.encryption = encryption;
		this.log = log;
	}

	public boolean encrypts() {
		return this.encryption != null;
	}

	/** Returns the result for the store, {@code null} if it must not be stored. */
	public @Nullable StoredResult encrypt(GuardedCall call, StoredResult result) {
		if (this.encryption == null) {
			return result;
		}
		try {
			byte[] encrypted = this.encryption.cipher().encrypt(framed(result), context(call.key()));
			return new StoredResult(FORMAT, encrypted);
		}
		catch (Throwable ex) {
			// Includes errors: after a success no failure may delete the record. A result
			// that should be encrypted is never stored unencrypted.
			this.log.resultNotEncrypted(call.operation(), ex);
			return null;
		}
	}

	/**
	 * Returns the decrypted stored result, {@code null} if it cannot or must not be read.
	 */
	public @Nullable StoredResult decrypt(GuardedCall call, StoredResult stored) {
		boolean encrypted = stored.format().startsWith(ANY_FORMAT);
		if (this.encryption == null) {
			// A codec of the application may not check the format, so it never gets an
			// encrypted result.
			return encrypted ? unreadable(call, "it is encrypted, but no encryption key is configured", null) : stored;
		}
		if (!encrypted) {
			return this.encryption.readsPlain() ? stored : unreadable(call,
					"it was stored unencrypted, and idempotency.encryption.allow-unencrypted-reads is false", null);
		}
		if (!stored.format().equals(FORMAT)) {
			return unreadable(call, "it was encrypted by another version of this library", null);
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
			// A cipher may throw any exception. The first call ran, so the duplicate
			// neither runs nor receives the exception of the cipher.
			return unreadable(call, "its cipher failed with " + ex.getClass().getName(), ex);
		}
	}

	private @Nullable StoredResult unreadable(GuardedCall call, String problem, @Nullable Throwable cause) {
		this.log.resultNotDecrypted(call.operation(), problem, cause);
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
			throw new UnreadableResultException("its decrypted content is invalid");
		}
		byte[] format = new byte[length];
		buffer.get(format);
		byte[] bytes = new byte[buffer.remaining()];
		buffer.get(bytes);
		return new StoredResult(new String(format, StandardCharsets.UTF_8), bytes);
	}

}
