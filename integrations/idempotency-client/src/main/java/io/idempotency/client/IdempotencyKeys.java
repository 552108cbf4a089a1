package io.idempotency.client;

import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Assigns the key of its intent to a call:
 * {@code IdempotencyKeys.with("order-42", () -> payments.pay(order))}. A job that is
 * restarted after a crash passes the same key, so that its call is a retry and not a
 * second call.
 * <p>
 * The key is bound to the current thread while the work runs, and is not passed to other
 * threads. Inside {@code with} another {@code with} hides the outer one. A key names one
 * call: the work may make the call again, but a call of another method or address fails
 * before it is sent.
 *
 * @since 0.1.0
 */
public final class IdempotencyKeys {

	/**
	 * A key that the header can carry unchanged: printable ASCII without blanks, quotes,
	 * lists and parameters.
	 */
	private static final Pattern KEY = Pattern.compile("[!#-+\\x2D-:<-~]{1,255}");

	private static final ThreadLocal<Intent> CURRENT = new ThreadLocal<>();

	private IdempotencyKeys() {
	}

	/**
	 * Runs work whose call uses a key.
	 * @param <T> the type of the result
	 * @param <E> the exception of the work
	 * @param key the key: 1 to 255 characters of printable ASCII without blanks, quotes,
	 * commas and semicolons
	 * @param work the work, which makes the call on this thread
	 * @return the result of the work
	 * @throws E the exception of the work
	 * @throws IllegalArgumentException if the key is malformed
	 */
	public static <T extends @Nullable Object, E extends Exception> T with(String key, Work<T, E> work) throws E {
		Intent previous = CURRENT.get();
		CURRENT.set(new Intent(key));
		try {
			return work.run();
		}
		finally {
			if (previous != null) {
				CURRENT.set(previous);
			}
			else {
				CURRENT.remove();
			}
		}
	}

	/**
	 * Does the same as {@link #with(String, Work)} for work without a result.
	 * @param key the key
	 * @param work the work
	 * @throws IllegalArgumentException if the key is malformed
	 */
	public static void with(String key, Runnable work) {
		IdempotencyKeys.<Boolean, RuntimeException>with(key, () -> {
			work.run();
			return true;
		});
	}

	static @Nullable Intent current() {
		return CURRENT.get();
	}

	/**
	 * Work that makes a call.
	 *
	 * @param <T> the type of the result
	 * @param <E> the exception of the work
	 */
	@FunctionalInterface
	public interface Work<T extends @Nullable Object, E extends Exception> {

		/**
		 * Runs the work.
		 * @return its result
		 * @throws E if the work fails
		 */
		T run() throws E;

	}

	/** A key, and the one call that it is for. */
	static final class Intent {

		private final String key;

		private final AtomicReference<@Nullable String> call = new AtomicReference<>();

		Intent(String key) {
			if (!KEY.matcher(key).matches()) {
				throw new IllegalArgumentException("A key must have 1 to 255 printable ASCII characters without "
						+ "spaces, quotes, commas and semicolons");
			}
			this.key = key;
		}

		/**
		 * The key for a call.
		 * @throws IllegalStateException if the key is for another call
		 */
		String keyFor(String call) {
			if (!this.call.compareAndSet(null, call) && !call.equals(this.call.get())) {
				throw new IllegalStateException("A key identifies one call, but this call has a different target "
						+ "than the previous one. Use a separate IdempotencyKeys.with for each call");
			}
			return this.key;
		}

	}

}
