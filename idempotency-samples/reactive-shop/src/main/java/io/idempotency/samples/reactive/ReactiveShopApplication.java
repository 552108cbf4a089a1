package io.idempotency.samples.reactive;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;

/**
 * Starts the shop and logs its address at the end of startup.
 */
@SpringBootApplication
public class ReactiveShopApplication {

	private static final Logger logger = LoggerFactory.getLogger(ReactiveShopApplication.class);

	public static void main(String[] args) {
		SpringApplication.run(ReactiveShopApplication.class, args);
	}

	@EventListener
	void announce(ApplicationReadyEvent event) {
		String port = event.getApplicationContext().getEnvironment().getProperty("local.server.port");
		logger.info("Reactive shop is ready on http://localhost:{}/", port);
	}

}
