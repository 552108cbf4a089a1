package io.idempotency.engine;

import io.idempotency.IdempotencyContextHolder.Binding;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;

/**
 * What the thread of a caller has bound to itself, for code of the application that the
 * library runs later on another thread: the thread-locals that are registered with
 * Micrometer's context propagation. Nothing where that is not on the class path.
 * Immutable.
 */
@FunctionalInterface
interface CallerContext {

	/** The context of a call whose code stays on the thread of its caller. */
	CallerContext NONE = () -> () -> {
	};

	/** Whether context propagation is on the class path. */
	boolean PRESENT = isPresent();

	/**
	 * Binds the context to the current thread. Whatever is registered, and the caller did
	 * not have, is unbound meanwhile.
	 * @return the binding, to be closed by the same thread, which then has its own
	 * context again
	 */
	Binding bind();

	/** Returns the context of the current thread. */
	static CallerContext capture() {
		return PRESENT ? Snapshots.capture() : NONE;
	}

	private static boolean isPresent() {
		try {
			Class.forName("io.micrometer.context.ContextSnapshotFactory", false, CallerContext.class.getClassLoader());
			return true;
		}
		catch (ClassNotFoundException | LinkageError notThere) {
			return false;
		}
	}

	/** Apart, because its classes may be missing. */
	final class Snapshots {

		private static final ContextSnapshotFactory FACTORY = ContextSnapshotFactory.builder()
			.clearMissing(true)
			.build();

		private Snapshots() {
		}

		private static CallerContext capture() {
			ContextSnapshot snapshot = FACTORY.captureAll();
			return () -> {
				ContextSnapshot.Scope scope = snapshot.setThreadLocals();
				return scope::close;
			};
		}

	}

}
