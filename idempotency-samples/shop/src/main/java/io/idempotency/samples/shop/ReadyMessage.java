package io.idempotency.samples.shop;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/**
 * Logs the address of the shop at the end of startup.
 */
@Component
class ReadyMessage {

	private static final Logger logger = LoggerFactory.getLogger(ReadyMessage.class);

	@Order(Ordered.LOWEST_PRECEDENCE)
	@EventListener
	void announce(ApplicationReadyEvent event) {
		String port = event.getApplicationContext().getEnvironment().getProperty("local.server.port");
		logger.info("Shop is ready on http://localhost:{}/", port);
	}

}
