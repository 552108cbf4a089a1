package io.idempotency;

import java.time.Duration;
import java.util.Optional;

/**
 * The guarded call that runs on this thread.
 * <p>
 * The context is bound to the thread that runs the guarded method. When guarded calls are
 * nested, the innermost call is the current one. Any thread may call the methods of the
 * context until the call has ended; after that they change nothing.
 *
 * @since 0.1.0
 */
public interface IdempotencyContext {

	/**
	 * The guarded call that runs on this thread.
	 * @return the context, empty outside a guarded call and in a call that runs unguarded
	 */
	static Optional<IdempotencyContext> current() {
		return Optional.ofNullable(IdempotencyContextHolder.get());
	}

	/**
	 * Returns the key of this call, as the caller gave it.
	 * @return the key
	 */
	String key();

	/**
	 * Returns the name of the guarded operation.
	 * @return the operation
	 */
	String operation();

	/**
	 * Returns the id of the record of this call, as log messages and the admin API show
	 * it.
	 * @return the id
	 */
	String recordId();

	/**
	 * Returns the fencing token: a number that grows with every claim of the key. Hand it
	 * to a downstream system that rejects every number smaller than the largest one it
	 * has seen: such a system shuts out a late owner.
	 * <p>
	 * The fencing token comes from the store's clock in microseconds, and it is larger
	 * than the last fencing token of the record. After the record is gone (released, or
	 * its retention is over), later fencing tokens stay larger as long as the store's
	 * clock does not step back.
	 * @return the fencing token
	 */
	long fencingToken();

	/**
	 * Sets how long the result of this call is kept, in place of the operation's
	 * retention.
	 * @param retention how long, positive
	 * @throws IllegalArgumentException if the retention is not positive
	 */
	void retention(Duration retention);

	/**
	 * Asks not to keep the result of this call: the key becomes free again when the call
	 * ends. In mode {@link IdempotencyMode#REPLAY}, a claim that was taken over from a
	 * dead owner stays abandoned instead.
	 */
	void releaseKey();

}
