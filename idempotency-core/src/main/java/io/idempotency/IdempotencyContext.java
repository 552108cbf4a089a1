package io.idempotency;

import java.time.Duration;
import java.util.Optional;

/**
 * The guarded call that runs on the current thread.
 * <p>
 * The context is bound to the thread that runs the guarded method. When guarded calls are
 * nested, the innermost call is the current one. Any thread may call the methods of the
 * context until the call completes. After that, the methods have no effect.
 *
 * @since 0.1.0
 */
public interface IdempotencyContext {

	/**
	 * The guarded call that runs on the current thread.
	 * @return the context, empty outside a guarded call and in a call that runs unguarded
	 */
	static Optional<IdempotencyContext> current() {
		return Optional.ofNullable(IdempotencyContextHolder.get());
	}

	/**
	 * Returns the key of this call, as the caller passed it.
	 * @return the key
	 */
	String key();

	/**
	 * Returns the name of the guarded operation.
	 * @return the operation
	 */
	String operation();

	/**
	 * Returns the id of the record of this call, as it appears in log messages and the
	 * admin API.
	 * @return the id
	 */
	String recordId();

	/**
	 * Returns the fencing token, a number that increases with every claim of the key.
	 * Pass it to a downstream system that rejects every number smaller than the largest
	 * one it received. Such a system rejects calls of an owner whose lease expired.
	 * <p>
	 * The fencing token is derived from the store's clock in microseconds. It is larger
	 * than the last fencing token of the record. After the record is released or expires,
	 * later fencing tokens are still larger unless the store's clock steps back.
	 * @return the fencing token
	 */
	long fencingToken();

	/**
	 * Sets how long the result of this call is stored. Overrides the operation's
	 * retention.
	 * @param retention the retention, positive
	 * @throws IllegalArgumentException if the retention is not positive
	 */
	void retention(Duration retention);

	/**
	 * Releases the key when the call completes, so its result is not stored. In mode
	 * {@link IdempotencyMode#REPLAY}, a claim that was taken over from a crashed owner
	 * stays abandoned instead.
	 */
	void releaseKey();

}
