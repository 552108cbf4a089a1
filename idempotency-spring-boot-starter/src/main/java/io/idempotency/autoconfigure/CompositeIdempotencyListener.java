package io.idempotency.autoconfigure;

import java.util.List;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells all listeners of the application in their order; one that fails holds up no
 * other.
 */
final class CompositeIdempotencyListener implements IdempotencyListener {

	private static final Logger logger = LoggerFactory.getLogger(CompositeIdempotencyListener.class);

	private final List<IdempotencyListener> listeners;

	CompositeIdempotencyListener(List<IdempotencyListener> listeners) {
		this.listeners = List.copyOf(listeners);
	}

	@Override
	public void onEvent(IdempotencyEvent event, String operation) {
		for (IdempotencyListener listener : this.listeners) {
			try {
				listener.onEvent(event, operation);
			}
			catch (RuntimeException ex) {
				// Whatever it is, the next listener has nothing to do with it.
				logger.warn("{} failed on {} of '{}'; the call goes on", listener.getClass().getName(), event,
						operation, ex);
			}
		}
	}

}
