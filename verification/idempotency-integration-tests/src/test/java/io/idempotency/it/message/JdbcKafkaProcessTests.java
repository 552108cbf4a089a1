package io.idempotency.it.message;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;

/**
 * Consumers of Kafka whose records and effects are in PostgreSQL. The consumers on Redis
 * show the same for a second line of Spring Boot.
 */
@Nightly
@Requires(Backend.POSTGRESQL)
@StoreAlone
class JdbcKafkaProcessTests extends ListenerProcessContract {

	JdbcKafkaProcessTests() {
		super(new JdbcWorkerStore(), new KafkaWorkerBroker());
	}

}
