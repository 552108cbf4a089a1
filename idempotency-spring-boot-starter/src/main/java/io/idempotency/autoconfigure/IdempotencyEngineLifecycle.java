package io.idempotency.autoconfigure;

import io.idempotency.engine.IdempotencyEngine;

import org.springframework.context.SmartLifecycle;

/**
 * Closes the engine after the last call and while its stores can still be reached. The
 * engine closes after web server and message listeners, whose phases are near the
 * greatest. It closes before connection factories, whose phase is zero, and before data
 * sources, which are no part of the lifecycle.
 */
final class IdempotencyEngineLifecycle implements SmartLifecycle {

	static final int PHASE = DEFAULT_PHASE / 2;

	private final IdempotencyEngine engine;

	private volatile boolean running;

	IdempotencyEngineLifecycle(IdempotencyEngine engine) {
		this.engine = engine;
	}

	@Override
	public void start() {
		this.engine.open();
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		this.engine.close();
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
