package io.idempotency;

/**
 * Receives the events of guarded calls, for example to count them. A listener cannot
 * change the outcome of a call.
 * <p>
 * The engine calls a listener on the thread of the event, which may be a thread of the
 * engine. A listener must return quickly and be thread-safe. An exception of a listener
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
	 * @param event the event
	 * @param operation the operation of the call
	 */
	void onEvent(IdempotencyEvent event, String operation);

}
