package io.idempotency.it.message;

import java.util.List;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.StoreAlone;
import org.junit.jupiter.api.BeforeEach;

/**
 * Consumers whose records and effects are in PostgreSQL. The consumers on Redis show the
 * same for a second line of Spring Boot.
 */
@Requires(Backend.POSTGRESQL)
@StoreAlone
class JdbcKafkaProcessTests extends KafkaProcessContract {

	private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

	private final JdbcEffectLog effects = new JdbcEffectLog(this.database.jdbc());

	@BeforeEach
	void createTable() {
		this.effects.createTable();
	}

	@Override
	String topic() {
		return "processes-jdbc";
	}

	@Override
	List<String> properties() {
		return List.of("idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=always",
				"test.database.url=" + this.database.url(), "test.database.user=" + this.database.user());
	}

	@Override
	EffectLog effects() {
		return this.effects;
	}

}
