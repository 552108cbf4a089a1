package io.idempotency.it.schemes;

import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.idempotency.it.client.Client;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.env.Environment;

/**
 * Every scheme on a real Tomcat: a subclass says which store, by properties or by a
 * configuration that declares it.
 */
@SpringBootTest(classes = SchemesApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "idempotency.token.enabled=true")
abstract class SchemesTests
		implements IssuedTokenScheme, RejectScheme, LockScheme, BusinessKeyScheme, DuplicateOnScheme, AbandonedScheme {

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private Stage stage;

	@BeforeEach
	void setTheStage(@Autowired Environment environment, @Autowired Effects effects, @Autowired IdempotencyStore store,
			@Autowired SchemeMethods methods, @Autowired RecoveryMethods recoveries) {
		String id = UUID.randomUUID().toString();
		Client client = new Client(Integer.parseInt(environment.getRequiredProperty("local.server.port")));
		this.stage = new Stage(id, effects.of(id), effects, client, (CountingStore) store, methods, recoveries,
				this.threads);
	}

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
	}

	@Override
	public Stage stage() {
		return this.stage;
	}

}
