package io.idempotency.it.message;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.UUID;

import javax.sql.DataSource;

import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.it.servers.SqlDatabase;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** Listeners that run when the transaction of their publisher has committed. */
class TransactionalEventTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory")
		.withUserConfiguration(Application.class, Deliveries.class, Listeners.class);

	private final ApplicationContextRunner jdbc = this.memory.withPropertyValues("idempotency.store=jdbc",
			"idempotency.jdbc.initialize-schema=always");

	@Test
	void duplicateIsSkippedAfterTheCommit() {
		this.memory.run(this::publishTwice);
	}

	@Test
	void duplicateIsSkippedAfterTheCommitWithRecordsInTheSameDatabase() {
		this.jdbc.run(this::publishTwice);
	}

	private void publishTwice(ApplicationContext context) {
		publish(context, new Paid("7"));
		publish(context, new Paid("7"));
		assertThat(context.getBean(Deliveries.class).effectsOf("7")).isEqualTo(1);
	}

	@Test
	void failureAfterTheCommitReleasesTheKey() {
		this.jdbc.run((context) -> {
			publish(context, new Paid("failing-once"));
			assertThat(context.getBean(Deliveries.class).effectsOf("failing-once")).isZero();
			publish(context, new Paid("failing-once"));
			assertThat(context.getBean(Deliveries.class).effectsOf("failing-once")).isEqualTo(1);
		});
	}

	@Test
	void failedListenerInATransactionAndAThreadOfItsOwnRunsAgain() {
		this.jdbc.run((context) -> {
			Deliveries deliveries = context.getBean(Deliveries.class);
			publish(context, new Shipped("failing-once"));
			Awaitility.await().until(() -> deliveries.enteredBy("failing-once") == 1);
			Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
				publish(context, new Shipped("failing-once"));
				assertThat(deliveries.effectsOf("failing-once")).isEqualTo(1);
			});
			publish(context, new Shipped("failing-once"));
			publish(context, new Shipped("last"));
			Awaitility.await().until(() -> deliveries.effectsOf("last") == 1);
			assertThat(deliveries.enteredBy("failing-once")).isEqualTo(2);
		});
	}

	private static void publish(ApplicationContext context, Object event) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> context.publishEvent(event));
	}

	record Paid(String id) {
	}

	record Shipped(String id) {
	}

	/** As the one of Spring Modulith. */
	@Async
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	@TransactionalEventListener
	@Retention(RetentionPolicy.RUNTIME)
	@interface ModuleListener {

	}

	static class Listeners {

		private final Deliveries deliveries;

		Listeners(Deliveries deliveries) {
			this.deliveries = deliveries;
		}

		@TransactionalEventListener
		@Idempotent("#event.id")
		public void paid(Paid event) {
			act(event.id());
		}

		@ModuleListener
		@Idempotent("#event.id")
		public void shipped(Shipped event) {
			act(event.id());
		}

		private void act(String id) {
			if (this.deliveries.enter(id) == 1 && id.equals("failing-once")) {
				throw new IllegalStateException("The first try fails");
			}
			this.deliveries.effect(id);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	@EnableTransactionManagement
	static class Application {

		@Bean
		DataSource dataSource() {
			return new SqlDatabase("jdbc:h2:mem:", 0, "").pool(4,
					(pool) -> pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1"));
		}

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

}
