package io.idempotency.it.modulith;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import io.idempotency.it.modulith.ModuleApplication.Booked;
import io.idempotency.it.modulith.ModuleApplication.Paid;
import io.idempotency.it.modulith.ModuleApplication.Shipped;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.modulith.events.core.EventPublicationRegistry;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Spring Modulith publishes an event again when the application starts, if its listener
 * failed or nobody was told that it returned. The effect happens once.
 */
class ModuleListenerTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final String database = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	static Stream<Object> events() {
		return Stream.of(new Paid("7"), new Shipped("7"), new Booked("7"));
	}

	@ParameterizedTest
	@MethodSource("events")
	void publicationIsCompleteWhenTheListenerReturns(Object event) {
		try (ConfigurableApplicationContext application = start("none")) {
			publish(application, event);
			awaitCompletion(application, event);
			publish(application, event);
			awaitCompletion(application, event);
		}
	}

	@ParameterizedTest
	@MethodSource("events")
	void eventWhoseEffectIsThereIsSkippedAndCompletedOnRestart(Object event) {
		try (ConfigurableApplicationContext application = start("after")) {
			publish(application, event);
			awaitEnd(application, IdempotencyEvent.EXECUTED);
			assertThat(effects(application)).containsExactly(event.toString());
			assertThat(incomplete(application)).isEqualTo(1);
		}
		try (ConfigurableApplicationContext application = start("none")) {
			awaitCompletion(application, event);
		}
	}

	@ParameterizedTest
	@MethodSource("events")
	void eventWhoseListenerFailedHasItsEffectOnRestart(Object event) {
		try (ConfigurableApplicationContext application = start("inside")) {
			publish(application, event);
			awaitEnd(application, IdempotencyEvent.RELEASED);
			assertThat(effects(application)).isEmpty();
			assertThat(incomplete(application)).isEqualTo(1);
		}
		try (ConfigurableApplicationContext application = start("none")) {
			awaitCompletion(application, event);
		}
	}

	private ConfigurableApplicationContext start(String fault) {
		return new SpringApplicationBuilder(ModuleApplication.class, Ends.class).run(
				"--spring.datasource.url=" + this.database, "--idempotency.store=jdbc",
				"--idempotency.jdbc.initialize-schema=always",
				"--spring.modulith.events.republish-outstanding-events-on-restart=true", "--test.fault=" + fault);
	}

	private static void publish(ConfigurableApplicationContext application, Object event) {
		new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> application.publishEvent(event));
	}

	private static void awaitCompletion(ConfigurableApplicationContext application, Object event) {
		await("the completion of " + event).atMost(PATIENCE).until(() -> incomplete(application) == 0);
		assertThat(effects(application)).containsExactly(event.toString());
	}

	private static void awaitEnd(ConfigurableApplicationContext application, IdempotencyEvent end) {
		await(end.toString()).atMost(PATIENCE).until(() -> application.getBean(Ends.class).seen.contains(end));
	}

	private static List<String> effects(ConfigurableApplicationContext application) {
		return application.getBean(ModuleApplication.Effects.class).all();
	}

	private static int incomplete(ConfigurableApplicationContext application) {
		return application.getBean(EventPublicationRegistry.class).findIncompletePublications().size();
	}

	/** What became of the calls of this application. */
	static class Ends implements IdempotencyListener {

		private final Set<IdempotencyEvent> seen = ConcurrentHashMap.newKeySet();

		@Override
		public void onEvent(IdempotencyEvent event, String operation) {
			this.seen.add(event);
		}

	}

}
