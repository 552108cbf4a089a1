package io.idempotency.autoconfigure;

import java.time.Duration;

import io.idempotency.engine.IdempotencyEngine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;

/**
 * Closes the engine after the last call and while its stores can still be reached. The
 * engine closes after web server and message listeners, whose phases are near the
 * maximum. It closes before connection factories, whose phase is zero, and before data
 * sources, which are not part of the lifecycle.
 */
final class IdempotencyEngineLifecycle implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyEngine.class);

	private static final String PHASE_TIMEOUT = "spring.lifecycle.timeout-per-shutdown-phase";

	/** The default of Spring Boot. */
	private static final Duration DEFAULT_PHASE_TIMEOUT = Duration.ofSeconds(30);

	static final int PHASE = DEFAULT_PHASE / 2;

	private final IdempotencyEngine engine;

	private final Duration shutdownTimeout;

	private volatile boolean running;

	IdempotencyEngineLifecycle(IdempotencyEngine engine, Duration shutdownTimeout) {
		this.engine = engine;
		this.shutdownTimeout = shutdownTimeout;
	}

	/**
	 * Creates it, with a warning if Spring stops waiting for a phase of its shutdown
	 * earlier than the engine does for its stores.
	 */
	static IdempotencyEngineLifecycle of(IdempotencyEngine engine, Duration shutdownTimeout, Environment environment) {
		Duration phase = Binder.get(environment).bind(PHASE_TIMEOUT, Duration.class).orElse(DEFAULT_PHASE_TIMEOUT);
		if (shutdownTimeout.compareTo(phase) > 0) {
			logger.warn(
					"[IDEM-511] idempotency.shutdown-timeout ({} ms) is longer than {} ({} ms): Spring closes "
							+ "connections while results are still being stored, so calls may run twice. Make "
							+ "idempotency.shutdown-timeout the shorter one.",
					shutdownTimeout.toMillis(), PHASE_TIMEOUT, phase.toMillis());
		}
		return new IdempotencyEngineLifecycle(engine, shutdownTimeout);
	}

	@Override
	public void start() {
		this.engine.open();
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		this.engine.close(this.shutdownTimeout);
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
