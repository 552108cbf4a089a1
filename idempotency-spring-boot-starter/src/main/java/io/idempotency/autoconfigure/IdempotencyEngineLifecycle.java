package io.idempotency.autoconfigure;

import io.idempotency.engine.IdempotencyEngine;

import org.springframework.context.SmartLifecycle;

/**
 * Ends the engine when nothing brings it calls any more and its stores can still be
 * reached: after web server and message listeners, whose phases are near the greatest,
 * and before connection factories, whose phase is zero, and data sources, which are no
 * part of the lifecycle at all.
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
