package io.idempotency.autoconfigure.engine;

import java.util.List;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import io.idempotency.upkeep.LogLine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls all listeners of the application in their order; a listener that fails does not
 * stop the others.
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
			catch (Throwable ex) {
				// Errors too: whatever one listener throws must not reach the next one.
				LogLine.write(() -> logger.warn("{} failed on {} of '{}'; the call goes on",
						listener.getClass().getName(), event, operation, ex));
			}
		}
	}

}
