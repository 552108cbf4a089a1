package io.idempotency.engine;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Work that has returned, and whose transaction is open. Whoever has
 * {@linkplain GuardedAction#takes(OpenWork) taken} it ends the transaction, once, on the
 * thread of the work.
 *
 * @hidden
 */
@Internal
public interface OpenWork {

	/**
	 * Sends to the database what the work has changed in memory, so that what the
	 * database makes of it can be seen.
	 * @throws RuntimeException the exception of the database
	 */
	void flush();

	/**
	 * Writes the record, with the result if the call has ended by now, and commits.
	 * @throws RuntimeException the exception of the commit, or of the record; the
	 * transaction was rolled back, or its end is not known
	 */
	void commit();

	/**
	 * Looks the result up after a failed commit that says that the work was done before.
	 * @param failure the exception of the commit
	 * @return the result, which the guarded action was told
	 * @throws Throwable the exception of the commit if it says something else, or the
	 * refusal if there is no result
	 */
	@Nullable Object recover(Throwable failure) throws Throwable;

	/**
	 * Rolls back: the work has failed.
	 * @param failure why; a failure of the rollback is only added to it
	 */
	void rollback(Throwable failure);

}
