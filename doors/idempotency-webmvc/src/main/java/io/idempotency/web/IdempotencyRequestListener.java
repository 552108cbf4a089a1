package io.idempotency.web;

import io.idempotency.Internal;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;

/**
 * Reports the end of a request, so that the door can await the rendering of an error and
 * keep its bytes. Without this listener (MockMvc has none) the error itself is kept, and
 * each replay renders it anew. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class IdempotencyRequestListener implements ServletRequestListener {

	@Override
	public void requestInitialized(ServletRequestEvent event) {
		Exchange.observe(event.getServletRequest());
	}

	@Override
	public void requestDestroyed(ServletRequestEvent event) {
		Exchange exchange = Exchange.find(event.getServletRequest());
		if (exchange != null) {
			exchange.requestDestroyed();
		}
	}

}
