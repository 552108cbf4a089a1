package io.idempotency.it.message;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.Requires;

/** Consumers of Kafka whose records and effects are in Redis. */
@Nightly
@Requires(Backend.REDIS)
class RedisKafkaProcessTests extends ListenerProcessContract {

	RedisKafkaProcessTests() {
		super(new RedisWorkerStore(), new KafkaWorkerBroker());
	}

}
