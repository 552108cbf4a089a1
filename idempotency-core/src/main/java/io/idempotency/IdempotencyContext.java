package io.idempotency;

import java.time.Duration;
import java.util.Optional;

/**
 * The guarded call that runs on this thread.
 * <p>
 * Bound to the thread that runs the guarded method; of nested guarded calls the innermost
 * is current. Its methods may be called from any thread until the call has ended; after
 * that they change nothing.
 *
 * @since 0.1.0
 */
public interface IdempotencyContext {

	/**
	 * The guarded call that runs on this thread.
	 * @return the context, empty outside a guarded call and in one that runs unguarded
	 */
	static Optional<IdempotencyContext> current() {
		return Optional.ofNullable(IdempotencyContextHolder.get());
	}

	/**
	 * The key of this call, as the caller gave it.
	 * @return the key
	 */
	String key();

	/**
	 * Name of the guarded operation.
	 * @return the operation
	 */
	String operation();

	/**
	 * The fence: a number that grows with every claim of the key. Hand it to a downstream
	 * system that refuses smaller numbers than the largest it has seen, to shut out a
	 * late owner.
	 * <p>
	 * Taken from the store's clock in microseconds, and larger than the last one of the
	 * record. After the record is gone (released, retention over) it stays ordered as
	 * long as the store's clock does not step back.
	 * @return the fence
	 */
	long fence();

	/**
	 * Keeps the result of this call for another time than the operation's retention.
	 * @param retention how long, positive
	 * @throws IllegalArgumentException if the retention is not positive
	 */
	void retention(Duration retention);

	/**
	 * Does not keep the result of this call: the key is free again when it ends.
	 */
	void release();

}
