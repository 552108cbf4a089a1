package io.idempotency.web;

import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;

/**
 * Tells when nothing more happens to a request, so that the door may await the rendering
 * of an error and keep its bytes. Without this listener (MockMvc has none) the error
 * itself is kept, and rendered anew by each replay. Thread-safe.
 *
 * @since 0.1.0
 */
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
