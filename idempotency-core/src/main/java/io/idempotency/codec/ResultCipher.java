package io.idempotency.codec;

/**
 * Encrypts stored results, and decrypts them for duplicates.
 * <p>
 * The output of {@link #encrypt(byte[], byte[])} must start with the id of its key, so
 * that keys can be rotated while results of older keys are stored. The output must be
 * authenticated together with its context, so that a result that was changed, or moved to
 * another record, is rejected and never replayed.
 * <p>
 * Implementations must be thread-safe. Both methods are called on the thread of a guarded
 * call, or on the thread that completes the call. While {@code encrypt} runs, the key is
 * claimed and, with {@code transaction = JOIN}, the database transaction may be open. A
 * cipher that uses a key service should therefore cache data keys instead of requesting
 * one for every result. If a result cannot be encrypted, it is not stored. If a result
 * cannot be decrypted, it counts as not stored. In both cases, a duplicate receives the
 * result that {@code recover} returns, or is rejected
 * ({@link io.idempotency.IdempotencyResultUnavailableException}); it never runs.
 *
 * @since 0.1.0
 */
public interface ResultCipher {

	/**
	 * Encrypts a result.
	 * @param plain the result, of any length; must not be modified or retained
	 * @param context the identity of the record, which is equal for all results of one
	 * record and different for every other record. It is not secret and not part of the
	 * output. It must be authenticated together with the output ("additional
	 * authenticated data")
	 * @return the bytes to store
	 * @throws RuntimeException if the result cannot be encrypted; the message must not
	 * contain keys or parts of the result
	 */
	byte[] encrypt(byte[] plain, byte[] context);

	/**
	 * Decrypts a result.
	 * @param encrypted the bytes from the store, which are untrusted
	 * @param context as for {@link #encrypt(byte[], byte[])}
	 * @return the result
	 * @throws RuntimeException if the bytes cannot be decrypted, or were not encrypted
	 * for this context; the message must not contain keys or parts of the result
	 */
	byte[] decrypt(byte[] encrypted, byte[] context);

}
