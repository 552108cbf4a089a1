package io.idempotency;

/**
 * Receives the events of guarded calls, e.g. to count them. A listener can never change
 * the outcome of a call.
 * <p>
 * The engine calls a listener on the thread where the event happens. That may be a thread
 * of the engine, so a listener must be quick and thread-safe. An exception of a listener
 * is logged.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface IdempotencyListener {

	/** A listener that does nothing. */
	IdempotencyListener NONE = (event, operation) -> {
	};

	/**
	 * Receives one event.
	 * @param event what happened
	 * @param operation the operation of the call
	 */
	void onEvent(IdempotencyEvent event, String operation);

}
