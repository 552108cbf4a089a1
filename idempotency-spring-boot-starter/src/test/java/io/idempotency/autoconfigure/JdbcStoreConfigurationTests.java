package io.idempotency.autoconfigure;

import java.net.ConnectException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.store.Causes;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.sql.RecordCleanup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.sql.init.SqlInitializationAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

@ExtendWith(OutputCaptureExtension.class)
class JdbcStoreConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class));

	private final ApplicationContextRunner embedded = this.runner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());

	/** For the schema a file is a server: it may have been there before. */
	private final ApplicationContextRunner notEmbedded = this.runner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:file:" + Path.of("target", "h2").toAbsolutePath() + "/"
				+ UUID.randomUUID());

	@ParameterizedTest
	@ValueSource(strings = { "jdbc", "memory" })
	@ResourceLock(Resources.GLOBAL)
	void leavesNoThreadAndNoConnectionAfterClose(String store) {
		this.embedded.withPropertyValues("idempotency.store=" + store)
			.run((context) -> context.getBean(IdempotencyTemplate.class).operation("pay").key("7").run(() -> {
			}));
		await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
			.noneMatch((thread) -> thread.startsWith("idempotency") || thread.startsWith("HikariPool")));
	}

	@Test
	void namesBeanAndUrlOfAnUnavailableDatabase() {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:tcp://localhost:1/shop;PASSWORD=secret",
					"spring.datasource.hikari.connection-timeout=250")
			.run((context) -> assertThat(context.getStartupFailure()).hasRootCauseInstanceOf(ConnectException.class)
				.satisfies((failure) -> {
					IdempotencyConfigurationException analyzed = (IdempotencyConfigurationException) Causes.of(failure)
						.filter(IdempotencyConfigurationException.class::isInstance)
						.findFirst()
						.orElseThrow();
					assertThat(analyzed.getMessage()).contains("'dataSource' (jdbc:h2:tcp://localhost:1/shop)")
						.doesNotContain("secret");
					assertThat(analyzed.action()).contains("Start the database", "idempotency.store");
				}));
	}

	@Test
	void callsRunOnceAndTheirRecordsAreInTheTable() {
		this.embedded.run((context) -> {
			IdempotencyTemplate.Call call = context.getBean(IdempotencyTemplate.class).operation("test").key("k1");
			assertThat(call.execute(String.class, () -> "first")).isEqualTo("first");
			assertThat(call.execute(String.class, () -> "second")).isEqualTo("first");
			assertThat(records(context, "idempotency_record")).isEqualTo(1);
		});
	}

	private static int records(AssertableApplicationContext context, String table) {
		JdbcTemplate jdbc = new JdbcTemplate(context.getBean(DataSource.class));
		Integer count = jdbc.queryForObject("select count(*) from " + table, Integer.class);
		assertThat(count).isNotNull();
		return count;
	}

	@Test
	void leaseThatASlowStoreMayOutlastIsToldAtTheStart(CapturedOutput output) {
		this.embedded.withPropertyValues("idempotency.lease=12s", "idempotency.store-timeout=2s")
			.run((context) -> assertThat(output).contains("idempotency.store-timeout (2s) for its connection and again",
					"(12s)", "longer than 6 times"));
	}

	/** {@code 24} was perhaps meant to be hours. */
	@Test
	void leaseAndRetentionThatAreHardlyMeantAreToldAtTheStart(CapturedOutput output) {
		this.embedded.withPropertyValues("idempotency.lease=999ms", "idempotency.retention=24")
			.run((context) -> assertThat(output).contains("idempotency.lease is 999ms",
					"idempotency.retention is 24s"));
	}

	@Test
	void leaseThatIsLongEnoughOrNotRenewedIsNoNews(CapturedOutput output) {
		this.embedded.withPropertyValues("idempotency.lease=13s").run((context) -> context.getBean(DataSource.class));
		this.embedded.withPropertyValues("idempotency.lease=6s", "idempotency.renewal=false")
			.run((context) -> context.getBean(DataSource.class));
		assertThat(output).doesNotContain("Set a lease longer", "idempotency.lease is", "idempotency.retention is");
	}

	@Test
	void tableMayHaveAnotherName() {
		this.embedded.withPropertyValues("idempotency.jdbc.table-name=PUBLIC.claims")
			.run((context) -> assertThat(records(context, "claims")).isZero());
	}

	@Test
	void missingTableFailsTheStartAndIsNamed() {
		this.notEmbedded.withPropertyValues("spring.main.lazy-initialization=true")
			.run(JdbcStoreConfigurationTests::expectMissingTable);
		this.embedded.withPropertyValues("idempotency.jdbc.initialize-schema=never")
			.run(JdbcStoreConfigurationTests::expectMissingTable);
	}

	private static void expectMissingTable(AssertableApplicationContext context) {
		assertThat(context).getFailure()
			.rootCause()
			.satisfies((ex) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining("The table idempotency_record of the JDBC store cannot be read"));
		assertThat(context.getStartupFailure())
			.hasStackTraceContaining(IdempotencyConfigurationException.class.getName());
	}

	@Test
	void tableIsMadeInAnyDatabaseWhereThatIsAskedFor() {
		this.notEmbedded.withPropertyValues("idempotency.jdbc.initialize-schema=always")
			.run((context) -> assertThat(records(context, "idempotency_record")).isZero());
	}

	@Test
	void storeComesAfterTheScriptsOfTheApplication() {
		this.embedded.withConfiguration(AutoConfigurations.of(SqlInitializationAutoConfiguration.class))
			.withPropertyValues("idempotency.jdbc.initialize-schema=never",
					"spring.sql.init.schema-locations=classpath:io/idempotency/store/sql/schema/h2/R__idempotency_record.sql")
			.run((context) -> assertThat(records(context, "idempotency_record")).isZero());
	}

	@Test
	void recordsThatAreOverAreRemoved() {
		this.embedded.run((context) -> assertThat(context).hasSingleBean(RecordCleanup.class));
		this.embedded.withPropertyValues("idempotency.jdbc.cleanup.enabled=false")
			.run((context) -> assertThat(context).hasSingleBean(JdbcIdempotencyStore.class)
				.doesNotHaveBean(RecordCleanup.class));
	}

	@Test
	void cleanupTakesTheSchedulerOfTheApplication() {
		Scheduler scheduler = mock();
		given(scheduler.schedule(any(), any())).willReturn(() -> {
		});
		this.embedded.withBean(Scheduler.class, () -> scheduler)
			.run((context) -> verify(scheduler).threads("cleanup", 1));
	}

	@Test
	void cleanupRunsByItself() {
		this.embedded.withPropertyValues("idempotency.jdbc.cleanup.interval=20ms", "idempotency.retention=1ms")
			.run(JdbcStoreConfigurationTests::expectCleanup);
	}

	@Test
	void cleanupRunsWhereTheStoreIsWrapped() {
		this.embedded.withPropertyValues("idempotency.jdbc.cleanup.interval=20ms", "idempotency.retention=1ms")
			.withBean(Wrapping.class)
			.run((context) -> {
				assertThat(context).getBean(IdempotencyStore.class).isInstanceOf(ForwardingIdempotencyStore.class);
				expectCleanup(context);
			});
	}

	private static void expectCleanup(AssertableApplicationContext context) {
		context.getBean(IdempotencyTemplate.class).operation("test").key("k1").execute(String.class, () -> "x");
		await().atMost(Duration.ofSeconds(60))
			.untilAsserted(() -> assertThat(records(context, "idempotency_record")).isZero());
	}

	/** As those do who measure or trace. */
	static final class Wrapping implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof JdbcIdempotencyStore store) ? new ForwardingIdempotencyStore(store) {
			} : bean;
		}

	}

	@Test
	void jdbcThatIsAskedForWithoutADataSourceFailsTheStart() {
		this.runner.withPropertyValues("idempotency.store=jdbc")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("no bean of type DataSource");
					assertThat(ex.action()).contains("spring-boot-starter-jdbc");
				}));
	}

	@Test
	void markedDataSourceIsUsedBeforeThePrimaryOne() {
		this.runner.withUserConfiguration(Several.class).run((context) -> {
			assertThat(context).hasSingleBean(IdempotencyStore.class);
			assertThat(new JdbcTemplate(context.getBean("records", DataSource.class))
				.queryForObject("select count(*) from idempotency_record", Integer.class)).isZero();
		});
	}

	@Test
	void severalDataSourcesWithoutAMarkFailTheStart() {
		this.runner.withUserConfiguration(Unmarked.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("[orders, users]");
					assertThat(ex.action()).contains("@IdempotencyDataSource");
				}));
	}

	@Test
	void dataSourceThatChoosesADatabaseFailsTheStartUnlessItIsMarked() {
		this.runner.withUserConfiguration(Routed.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("selects a database for each connection");
					assertThat(ex.action()).contains("@IdempotencyDataSource", "idempotency.jdbc.pool-size to 0");
				}));
		this.runner.withUserConfiguration(Routed.class)
			.withPropertyValues("idempotency.jdbc.pool-size=0")
			.run((context) -> assertThat(context).hasSingleBean(JdbcIdempotencyStore.class));
		this.runner.withUserConfiguration(Routed.class, MarkedRouted.class)
			.run((context) -> assertThat(context).hasSingleBean(JdbcIdempotencyStore.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class Routed {

		@Bean
		@Primary
		DataSource routed() {
			AbstractRoutingDataSource routed = new AbstractRoutingDataSource() {

				@Override
				protected Object determineCurrentLookupKey() {
					return "one";
				}

			};
			routed.setTargetDataSources(Map.of("one", h2()));
			return routed;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MarkedRouted {

		@Bean
		@IdempotencyDataSource
		DataSource marked(@Qualifier("routed") DataSource routed) {
			return new LazyConnectionDataSourceProxy(routed);
		}

	}

	private static DataSource h2() {
		return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
	}

	@Configuration(proxyBeanMethods = false)
	static class Several {

		@Bean
		@Primary
		DataSource orders() {
			return h2();
		}

		@Bean
		@IdempotencyDataSource
		DataSource records() {
			return h2();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Unmarked {

		@Bean
		DataSource orders() {
			return h2();
		}

		@Bean
		DataSource users() {
			return h2();
		}

	}

}
