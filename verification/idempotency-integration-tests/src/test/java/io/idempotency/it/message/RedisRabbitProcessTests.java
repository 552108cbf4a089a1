package io.idempotency.it.message;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;

/** Consumers of RabbitMQ whose records and effects are in Redis. */
@Requires({ Backend.REDIS, Backend.RABBIT })
class RedisRabbitProcessTests extends ListenerProcessContract {

	RedisRabbitProcessTests() {
		super(new RedisWorkerStore(), new RabbitWorkerBroker());
	}

}
