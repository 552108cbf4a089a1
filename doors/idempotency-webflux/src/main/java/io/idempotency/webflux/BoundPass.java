package io.idempotency.webflux;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * Knows which way through a handler the current thread goes, for handlers that return
 * values: their advice sees no Reactor context. Spring may call them on another thread
 * than the one that has brought the request; tasks of Reactor's schedulers take the way
 * along. What goes on when the handler has been called, and may let other requests go on,
 * finds no way. Thread-safe.
 */
final class BoundPass {

	private static final ThreadLocal<BoundPass> CURRENT = new ThreadLocal<>();

	private static final String HOOK = BoundPass.class.getName();

	/** Not there any more when the handler was called: a periodic task holds this. */
	private volatile @Nullable Pass pass;

	BoundPass(Pass pass) {
		this.pass = pass;
	}

	/** Lets tasks of Reactor's schedulers take the way along. May be done repeatedly. */
	static void followThreads() {
		Schedulers.onScheduleHook(HOOK, BoundPass::carry);
	}

	private static Runnable carry(Runnable task) {
		BoundPass bound = CURRENT.get();
		return (bound == null || bound.pass == null) ? task : () -> {
			try (Scope scope = bind(bound)) {
				task.run();
			}
		};
	}

	/**
	 * Sets the way of the current thread.
	 * @param bound the way, {@code null} for none
	 * @return ends what was set
	 */
	static Scope bind(@Nullable BoundPass bound) {
		BoundPass before = CURRENT.get();
		set(bound);
		return () -> set(before);
	}

	private static void set(@Nullable BoundPass bound) {
		if (bound != null) {
			CURRENT.set(bound);
		}
		else {
			CURRENT.remove();
		}
	}

	/** Leads nowhere from here on. */
	void end() {
		this.pass = null;
	}

	/**
	 * Returns the way of the current thread, if it leads to a method.
	 * @param method the method
	 */
	static @Nullable Pass to(Method method) {
		BoundPass bound = CURRENT.get();
		Pass pass = (bound != null) ? bound.pass : null;
		return (pass != null && pass.leadsTo(method)) ? pass : null;
	}

	/** Until it is closed, a thread is on a way. */
	interface Scope extends AutoCloseable {

		@Override
		void close();

	}

}
