package io.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Binds the {@link IdempotencyContext} of a guarded call to the thread that runs the
 * call. The engine and code that propagates thread-bound values to other threads use this
 * class.
 *
 * @since 0.1.0
 */
public final class IdempotencyContextHolder {

	private static final ThreadLocal<IdempotencyContext> CURRENT = new ThreadLocal<>();

	private IdempotencyContextHolder() {
	}

	/**
	 * Returns the context that is bound to the current thread.
	 * @return the context, or {@code null} outside a guarded call
	 */
	public static @Nullable IdempotencyContext get() {
		return CURRENT.get();
	}

	/**
	 * Binds a context to the current thread until the binding is closed. Closing the
	 * binding restores the previous context.
	 * @param context the context, or {@code null} to hide the current one
	 * @return the binding, to be closed by the same thread
	 */
	public static Binding bind(@Nullable IdempotencyContext context) {
		IdempotencyContext previous = CURRENT.get();
		set(context);
		return () -> set(previous);
	}

	private static void set(@Nullable IdempotencyContext context) {
		if (context != null) {
			CURRENT.set(context);
		}
		else {
			CURRENT.remove();
		}
	}

	/**
	 * A context bound to a thread.
	 */
	@FunctionalInterface
	public interface Binding extends AutoCloseable {

		@Override
		void close();

	}

}
