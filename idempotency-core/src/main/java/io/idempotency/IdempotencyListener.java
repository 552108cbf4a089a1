package io.idempotency;

/**
 * Is told what happens to guarded calls, e.g. to count them; can never change the
 * outcome.
 * <p>
 * Called on the thread where it happens, also on the engine's own, so it must be quick
 * and thread-safe. What it throws is logged.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface IdempotencyListener {

	/** Is told and does nothing. */
	IdempotencyListener NONE = (event, operation) -> {
	};

	/**
	 * Called when something happened.
	 * @param event what
	 * @param operation to which operation
	 */
	void onEvent(IdempotencyEvent event, String operation);

}
