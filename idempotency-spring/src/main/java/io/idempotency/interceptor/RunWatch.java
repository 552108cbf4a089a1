package io.idempotency.interceptor;

import io.idempotency.Internal;
import io.idempotency.engine.Ending;
import org.jspecify.annotations.Nullable;

/**
 * Watches the run of a guarded method for an adapter whose methods say in another way
 * than by their return how a call has ended. For one call; the end of a future may be
 * told by another thread than the one that runs.
 *
 * @hidden
 */
@Internal
public interface RunWatch {

	/**
	 * Runs the method, once at most. An exception of this method is one of the guarded
	 * method: it rolls a joined transaction back.
	 * @return its result
	 * @throws Throwable its exception, or one that says that its return is no success
	 */
	@Nullable Object run(Run method) throws Throwable;

	/**
	 * Returns how a call has ended whose method has returned, and whose future, if it has
	 * one, has completed.
	 * @param ending the ending as the return alone says it
	 */
	Ending returned(Ending ending);

	/**
	 * Returns whether the work of a call that has failed is to be done anew in any case,
	 * so that its failure is not remembered.
	 */
	boolean isGivenBack();

	/**
	 * Returns what the adapter tells its client of a failure that is remembered, so that
	 * a replay can tell the same.
	 * @param failure the exception of the guarded method
	 * @return what is told, {@code null} if the exception alone says it
	 */
	default @Nullable String told(Throwable failure) {
		return null;
	}

	/**
	 * The run of a method.
	 *
	 * @hidden
	 */
	@FunctionalInterface
	interface Run {

		/**
		 * Runs the method.
		 * @return its result
		 * @throws Throwable its exception
		 */
		@Nullable Object proceed() throws Throwable;

	}

}
