package io.idempotency.engine;

/**
 * Encrypts what the library stores of results, and decrypts it for duplicates.
 * <p>
 * What {@link #encrypt(byte[], byte[])} writes says by itself how it is to be read: it
 * begins with the id of its key, so that keys can change while results of older ones are
 * kept. It must be authenticated together with its context, so that a result that was
 * changed, or that was moved to the record of somebody else, is refused and never
 * replayed.
 * <p>
 * Thread-safe. Both methods are called on the thread of a guarded call: the first while
 * its claim lives and, with {@code transaction = JOIN}, while its database transaction is
 * open, so that a service for keys is best asked for a data key now and then and not for
 * every result. A result that cannot be encrypted is not kept, and one that cannot be
 * decrypted is as one that was not: duplicates are looked up by {@code recover} or
 * refused ({@link io.idempotency.IdempotencyResultUnavailableException}), and never run.
 *
 * @since 0.1.0
 */
public interface ResultCipher {

	/**
	 * Encrypts a result.
	 * @param plain the result, of any length; must not be changed or kept
	 * @param context whose result it is: the same for every result of one record, another
	 * for every other record. Not secret, and not part of what is written; to be
	 * authenticated with it ("additional authenticated data")
	 * @return what is stored
	 * @throws RuntimeException if it cannot be encrypted; its message must hold no keys
	 * and nothing of the result
	 */
	byte[] encrypt(byte[] plain, byte[] context);

	/**
	 * Decrypts a result.
	 * @param encrypted what the store has given, which anybody may have written
	 * @param context as for {@link #encrypt(byte[], byte[])}
	 * @return the result
	 * @throws RuntimeException if it cannot be decrypted, or was not encrypted for this
	 * context; its message must hold no keys and nothing of the result
	 */
	byte[] decrypt(byte[] encrypted, byte[] context);

}
