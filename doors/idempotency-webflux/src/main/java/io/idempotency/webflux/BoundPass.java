package io.idempotency.webflux;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.scheduler.Schedulers;

/**
 * Knows which way through a handler the current thread goes, for handlers that return
 * values: their advice sees no Reactor context. Spring may call them on another thread
 * than the one that has brought the request; tasks of Reactor's schedulers take the way
 * along. What goes on when the handler has been called, and may let other requests go on,
 * finds no way. Thread-safe.
 */
final class BoundPass {

	private static final ThreadLocal<Binding> CURRENT = new ThreadLocal<>();

	private static final String HOOK = BoundPass.class.getName();

	/** How many ways lead to a handler that has not returned. */
	private static final Map<Method, Integer> OPEN = new ConcurrentHashMap<>();

	/** Not there any more when the handler was called: a periodic task holds this. */
	private final AtomicReference<@Nullable Pass> pass = new AtomicReference<>();

	private volatile @Nullable CoreSubscriber<?> result;

	/**
	 * Leads to the handler from here on.
	 * @param begun the way
	 * @param subscriber gets what the handler returns
	 */
	void begin(Pass begun, CoreSubscriber<?> subscriber) {
		OPEN.merge(begun.handler().getMethod(), 1, Integer::sum);
		this.result = subscriber;
		this.pass.set(begun);
	}

	/** Lets tasks of Reactor's schedulers take the way along. May be done repeatedly. */
	static void followThreads() {
		Schedulers.onScheduleHook(HOOK, BoundPass::carry);
	}

	private static Runnable carry(Runnable task) {
		Binding current = CURRENT.get();
		if (current == null || current.bound().pass.get() == null) {
			return task;
		}
		Binding carried = new Binding(current.bound(), current.bound().isFor(task));
		return () -> {
			try (Scope scope = bind(carried)) {
				task.run();
			}
		};
	}

	/**
	 * Returns whether all that a task gives goes into the result of this way. Other
	 * requests may wait for what it gives, if not: it is that of a cache, say.
	 */
	private boolean isFor(Runnable task) {
		CoreSubscriber<?> own = this.result;
		return Scannable.from(task).actuals().anyMatch((subscriber) -> subscriber == own);
	}

	/**
	 * Sets the way of the current thread.
	 * @param bound the way, {@code null} for none
	 * @return ends what was set
	 */
	static Scope bind(@Nullable BoundPass bound) {
		return bind((bound != null) ? new Binding(bound, true) : null);
	}

	private static Scope bind(@Nullable Binding binding) {
		Binding before = CURRENT.get();
		set(binding);
		return () -> set(before);
	}

	private static void set(@Nullable Binding binding) {
		if (binding != null) {
			CURRENT.set(binding);
		}
		else {
			CURRENT.remove();
		}
	}

	/** Leads nowhere from here on. */
	void end() {
		Pass ended = this.pass.getAndSet(null);
		if (ended != null) {
			OPEN.computeIfPresent(ended.handler().getMethod(), (method, open) -> (open > 1) ? open - 1 : null);
		}
	}

	/**
	 * Returns the way of the current thread, if it leads to a method. A task that may let
	 * other requests go on tells the way only while there is no other.
	 * @param method the method
	 */
	static @Nullable Pass to(Method method) {
		Binding current = CURRENT.get();
		if (current == null) {
			return null;
		}
		Pass pass = current.bound().pass.get();
		if (pass == null || !pass.leadsTo(method)) {
			return null;
		}
		boolean alone = OPEN.getOrDefault(pass.handler().getMethod(), 0) == 1;
		// Was it still there when the others were counted?
		return ((current.sure() || alone) && current.bound().pass.get() == pass) ? pass : null;
	}

	/**
	 * What a thread is on.
	 *
	 * @param bound the way
	 * @param sure whether no other request can go on there
	 */
	private record Binding(BoundPass bound, boolean sure) {
	}

	/** Until it is closed, a thread is on a way. */
	interface Scope extends AutoCloseable {

		@Override
		void close();

	}

}
