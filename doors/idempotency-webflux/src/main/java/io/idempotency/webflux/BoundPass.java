package io.idempotency.webflux;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * Knows which way through a handler the current thread goes, for handlers that return
 * values: their advice sees no Reactor context. Spring may call them on another thread
 * than the one that has brought the request; tasks of Reactor's schedulers take the way
 * along. Thread-safe.
 */
final class BoundPass {

	private static final ThreadLocal<Pass> CURRENT = new ThreadLocal<>();

	private static final String HOOK = BoundPass.class.getName();

	private BoundPass() {
	}

	/** Lets tasks of Reactor's schedulers take the way along. May be done repeatedly. */
	static void followThreads() {
		Schedulers.onScheduleHook(HOOK, BoundPass::carry);
	}

	private static Runnable carry(Runnable task) {
		Pass pass = CURRENT.get();
		if (pass == null) {
			return task;
		}
		return () -> {
			Pass before = bind(pass);
			try {
				task.run();
			}
			finally {
				bind(before);
			}
		};
	}

	/**
	 * Binds a way.
	 * @param pass the way, {@code null} for none
	 * @return the one that was bound before
	 */
	static @Nullable Pass bind(@Nullable Pass pass) {
		Pass before = CURRENT.get();
		if (pass != null) {
			CURRENT.set(pass);
		}
		else {
			CURRENT.remove();
		}
		return before;
	}

	/**
	 * Returns the way of the current thread, if it leads to a method.
	 * @param method the method
	 */
	static @Nullable Pass to(Method method) {
		Pass pass = CURRENT.get();
		return (pass != null && pass.leadsTo(method)) ? pass : null;
	}

}
