package io.idempotency.it.http;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.scenarios.StormScenarios;

import org.springframework.beans.factory.annotation.Autowired;

class StormOnTomcatTests extends OnTomcat implements StormScenarios {

	@Autowired
	IdempotencyEngine engine;

	@Override
	public int waiters() {
		return this.engine.load().waiters();
	}

}
