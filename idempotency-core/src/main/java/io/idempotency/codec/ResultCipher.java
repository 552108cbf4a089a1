package io.idempotency.codec;

/**
 * Encrypts the results that the library stores, and decrypts them for duplicates.
 * <p>
 * The output of {@link #encrypt(byte[], byte[])} says by itself how to read it: it begins
 * with the id of its key, so that keys can change while results of older keys are kept.
 * The output must be authenticated together with its context. A result that was changed,
 * or that was moved to another record, is then rejected and never replayed.
 * <p>
 * Thread-safe. Both methods are called on the thread of a guarded call, or on the thread
 * that ends the call if that is another one. The claim lives while {@code encrypt} runs
 * and, with {@code transaction = JOIN}, its database transaction may be open. A cipher
 * should therefore ask a key service for a data key now and then, and not for every
 * result. A result that cannot be encrypted is not kept, and a result that cannot be
 * decrypted counts as not kept. In both cases a duplicate gets the result that
 * {@code recover} finds, or is rejected
 * ({@link io.idempotency.IdempotencyResultUnavailableException}); it never runs.
 *
 * @since 0.1.0
 */
public interface ResultCipher {

	/**
	 * Encrypts a result.
	 * @param plain the result, of any length; must not be changed or kept
	 * @param context the identity of the record: the same for every result of one record,
	 * and different for every other record. The context is not secret and not part of the
	 * output; it must be authenticated together with the output ("additional
	 * authenticated data")
	 * @return the bytes to store
	 * @throws RuntimeException if the result cannot be encrypted; the message must hold
	 * no keys and no part of the result
	 */
	byte[] encrypt(byte[] plain, byte[] context);

	/**
	 * Decrypts a result.
	 * @param encrypted the bytes from the store; anybody may have written them
	 * @param context as for {@link #encrypt(byte[], byte[])}
	 * @return the result
	 * @throws RuntimeException if the bytes cannot be decrypted, or were not encrypted
	 * for this context; the message must hold no keys and no part of the result
	 */
	byte[] decrypt(byte[] encrypted, byte[] context);

}
