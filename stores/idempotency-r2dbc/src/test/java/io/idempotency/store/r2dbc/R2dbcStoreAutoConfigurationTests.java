package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyConnectionFactory;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.store.sql.RecordCleanup;
import io.r2dbc.h2.H2ConnectionConfiguration;
import io.r2dbc.h2.H2ConnectionFactory;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.r2dbc.connection.lookup.AbstractRoutingConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class R2dbcStoreAutoConfigurationTests {

	private final String name = UUID.randomUUID().toString();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class, R2dbcStoreAutoConfiguration.class,
				R2dbcBesideJdbcAutoConfiguration.class));

	private static ConnectionFactory connections(String name) {
		return new H2ConnectionFactory(H2ConnectionConfiguration.builder()
			.inMemory(name)
			.username("sa")
			.property("DB_CLOSE_DELAY", "-1")
			.build());
	}

	private DataSource dataSource() {
		return new DriverManagerDataSource("jdbc:h2:mem:" + this.name + ";DB_CLOSE_DELAY=-1", "sa", "");
	}

	private ApplicationContextRunner overR2dbc() {
		return overR2dbc(this.runner);
	}

	private ApplicationContextRunner overR2dbc(ApplicationContextRunner runner) {
		return runner.withBean("connections", ConnectionFactory.class, () -> connections(this.name));
	}

	private ApplicationContextRunner overBoth() {
		return overR2dbc().withBean("dataSource", DataSource.class, this::dataSource);
	}

	private int rows(String table) {
		return new JdbcTemplate(dataSource()).queryForObject("SELECT COUNT(*) FROM " + table, Integer.class);
	}

	@Test
	@ResourceLock(Resources.GLOBAL)
	void leavesNoThreadAndNoConnectionAfterClose() {
		overR2dbc().withBean(Payments.class).run((context) -> context.getBean(Payments.class).pay("7"));
		await().untilAsserted(() -> {
			assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
				.noneMatch((thread) -> thread.startsWith("idempotency"));
			assertThat(rows("INFORMATION_SCHEMA.SESSIONS")).isEqualTo(1);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "auto", "jdbc" })
	void databaseThatIsReachedOverR2dbcKeepsTheRecords(String store, CapturedOutput output) {
		overR2dbc().withBean(Payments.class)
			.withPropertyValues("idempotency.store=" + store, "idempotency.jdbc.table-name=records")
			.run((context) -> {
				assertThat(context).hasSingleBean(RecordCleanup.class).hasSingleBean(ReactiveIdempotencyStore.class);
				assertThat(context.getBean(IdempotencyStore.class))
					.isSameAs(context.getBean(R2dbcIdempotencyStore.class).blocking())
					.isSameAs(context.getBean("idempotencyStore"));
				Payments payments = context.getBean(Payments.class);
				assertThat(payments.pay("7")).isEqualTo(payments.pay("7"));
				assertThat(rows("records")).isEqualTo(1);
				assertThat(output.toString().contains("Idempotency records are stored in the database over R2DBC"))
					.isEqualTo(store.equals("auto"));
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "auto", "jdbc" })
	void failsAndNamesTheArtifactWhenTheModuleIsMissing(String store) {
		withoutModule().withPropertyValues("idempotency.store=" + store)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class,
						(ex) -> assertThat(ex.action()).contains("io.idempotency:idempotency-r2dbc")));
	}

	@Test
	void needsNoModuleWhenAnotherStoreIsChosen() {
		withoutModule().withPropertyValues("idempotency.store=memory")
			.run((context) -> assertThat(context).hasNotFailed());
		withoutModule().withBean("dataSource", DataSource.class, this::dataSource)
			.run((context) -> assertThat(context.getBean(IdempotencyStore.class).type()).isEqualTo("jdbc"));
	}

	private ApplicationContextRunner withoutModule() {
		return overR2dbc(new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.idempotency.store.r2dbc")));
	}

	@Test
	void connectionsToRedisAndToADatabaseFailTheStartAndAsk() {
		overR2dbc().withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("Redis").hasMessageContaining("a database");
					assertThat(ex.action()).contains("'redis'").contains("'jdbc'");
				}));
	}

	@Test
	void usesConfiguredStoreBesideRedis() {
		overR2dbc().withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class))
			.withPropertyValues("idempotency.store=jdbc")
			.run((context) -> assertThat(context).hasSingleBean(R2dbcIdempotencyStore.class)
				.getBean(IdempotencyStore.class)
				.isSameAs(context.getBean(R2dbcIdempotencyStore.class).blocking()));
	}

	@Test
	void backsOffWhenApplicationDeclaresStore() {
		overR2dbc().withBean("ledger", IdempotencyStore.class, () -> new MemoryIdempotencyStore(1 << 20))
			.run((context) -> assertThat(context).hasSingleBean(IdempotencyStore.class)
				.doesNotHaveBean(R2dbcIdempotencyStore.class));
	}

	@Test
	void leaseThatASlowStoreMayOutlastIsToldAtTheStart(CapturedOutput output) {
		overR2dbc().withPropertyValues("idempotency.lease=13s").run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("Set a lease longer");
		overR2dbc().withPropertyValues("idempotency.lease=12s").run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("Set a lease longer than 6 times the timeout");
	}

	@Test
	void missingTableFailsTheStart() {
		overR2dbc().withPropertyValues("idempotency.jdbc.initialize-schema=never")
			.run((context) -> assertThat(context).getFailure()
				.extracting(R2dbcStoreAutoConfigurationTests::configurationFailure)
				.satisfies((ex) -> assertThat(ex.action()).contains("idempotency.jdbc.initialize-schema")));
	}

	private static IdempotencyConfigurationException configurationFailure(Throwable failure) {
		return (failure instanceof IdempotencyConfigurationException found) ? found
				: configurationFailure(failure.getCause());
	}

	@Test
	void rejectedUserFailsTheStartAndNamesTheProperties() {
		new JdbcTemplate(dataSource()).execute("CREATE USER other PASSWORD 'secret'");
		this.runner
			.withBean(ConnectionFactory.class,
					() -> new H2ConnectionFactory(
							H2ConnectionConfiguration.builder().inMemory(this.name).username("other").build()))
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("The database rejected the login of the application"));
	}

	@Test
	void oneDatabaseIsAskedOverJdbcByCallersThatBlockAndOverR2dbcByOthers(CapturedOutput output) {
		overBoth().withBean(Payments.class).run((context) -> {
			JdbcIdempotencyStore store = context.getBean(JdbcIdempotencyStore.class);
			assertThat(context).getBean(IdempotencyStore.class).isSameAs(store);
			R2dbcIdempotencyStore reactive = context.getBean(R2dbcIdempotencyStore.class);
			assertThat(reactive.blocking()).isSameAs(store);
			assertThat(context.getBean(ReactiveIdempotencyEngine.class).store(store)).isSameAs(reactive);
			context.getBean(Payments.class).pay("7");
			assertThat(rows("idempotency_record")).as("nothing else is left there").isEqualTo(1);
			assertThat(output).doesNotContain("WARN");
		});
	}

	@Test
	void otherDatabaseIsNotAskedOverR2dbc(CapturedOutput output) {
		this.runner.withBean("dataSource", DataSource.class, this::dataSource)
			.withBean(ConnectionFactory.class, () -> connections("other-" + this.name))
			.run((context) -> {
				assertThat(output).as("at the start, before the first call")
					.contains("WARN")
					.contains("@IdempotencyConnectionFactory");
				assertIsAskedOverJdbc(context);
				assertThat(rows("idempotency_record")).isZero();
			});
	}

	private static void assertIsAskedOverJdbc(ApplicationContext context) {
		JdbcIdempotencyStore store = context.getBean(JdbcIdempotencyStore.class);
		assertThat(context.getBean(ReactiveIdempotencyEngine.class).store(store))
			.isNotInstanceOf(R2dbcIdempotencyStore.class);
	}

	@Test
	void severalConnectionFactoriesDoNotFailTheStartBesideADataSource(CapturedOutput output) {
		overBoth().withBean("more", ConnectionFactory.class, () -> connections("more")).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("WARN").contains("[connections, more]");
			assertIsAskedOverJdbc(context);
		});
	}

	/** Renewing a claim would be allowed. */
	@Test
	void connectionsThatMayNotWriteAllAreNotUsedBesideADataSource(CapturedOutput output) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource());
		new JdbcSchema(dataSource(), "idempotency_record").create();
		jdbc.execute("CREATE USER reader PASSWORD ''");
		jdbc.execute("GRANT SELECT, UPDATE ON idempotency_record TO reader");
		this.runner.withBean("dataSource", DataSource.class, this::dataSource)
			.withBean(ConnectionFactory.class,
					() -> new H2ConnectionFactory(
							H2ConnectionConfiguration.builder().inMemory(this.name).username("reader").build()))
			.run((context) -> {
				assertThat(output).contains("WARN").contains("cannot be written");
				assertIsAskedOverJdbc(context);
			});
	}

	@Test
	void ofSeveralConnectionFactoriesTheMarkedOneIsUsed() {
		this.runner.withUserConfiguration(Several.class).withBean(Payments.class).run((context) -> {
			context.getBean(Payments.class).pay("7");
			assertThat(new JdbcTemplate(new DriverManagerDataSource("jdbc:h2:mem:marked", "sa", ""))
				.queryForObject("SELECT COUNT(*) FROM idempotency_record", Integer.class)).isEqualTo(1);
		});
	}

	@Test
	void severalConnectionFactoriesWithoutAMarkFailTheStart() {
		overR2dbc().withBean("more", ConnectionFactory.class, () -> connections("more"))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("[connections, more]");
					assertThat(ex.action()).contains("@IdempotencyConnectionFactory");
				}));
	}

	@Test
	void connectionFactoryThatChoosesADatabaseFailsTheStart() {
		this.runner.withBean(ConnectionFactory.class, Routing::new)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining(Routing.class.getName())
				.hasMessageContaining("selects a database"));
	}

	@Test
	void poolOfTheApplicationIsNotUsedForRenewals() {
		ConnectionPool pool = new ConnectionPool(
				ConnectionPoolConfiguration.builder(connections(this.name)).initialSize(0).maxSize(1).build());
		this.runner.withBean(ConnectionFactory.class, () -> pool).run((context) -> {
			IdempotencyStore store = context.getBean(IdempotencyStore.class);
			IdempotencyKey key = new Namespace("").key("pay", Caller.GLOBAL, List.of("7"));
			ClaimRequest claim = ClaimRequest.of(key, Duration.ofMinutes(1), Duration.ofMinutes(1));
			store.claim(claim);
			Connection held = Objects.requireNonNull(pool.create().block());
			assertThat(store.renew(key, claim.claimId(), Duration.ofMinutes(1))).isTrue();
			Mono.from(held.close()).block();
		});
		pool.dispose();
	}

	/** Both schemas have a table: the claim is in one, and renewed in the other. */
	@Test
	void connectionsBelowThePoolThatLeadElsewhereFailStartup() {
		new JdbcSchema(dataSource(), "idempotency_record").create();
		new JdbcTemplate(dataSource()).execute("CREATE SCHEMA tenant");
		new JdbcSchema(dataSource(), "tenant.idempotency_record").create();
		ConnectionPool pool = new ConnectionPool(ConnectionPoolConfiguration.builder(connections(this.name))
			.postAllocate((connection) -> Mono.from(connection.createStatement("SET SCHEMA tenant").execute())
				.flatMap((result) -> Mono.from(result.getRowsUpdated()))
				.then())
			.build());
		this.runner.withBean(ConnectionFactory.class, () -> pool)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("do not lead to the same table");
					assertThat(ex.action()).contains("@IdempotencyConnectionFactory",
							"idempotency.jdbc.pool-size to 0");
				}));
		this.runner.withBean(ConnectionFactory.class, () -> pool)
			.withPropertyValues("idempotency.jdbc.pool-size=0")
			.run((context) -> {
				IdempotencyStore store = context.getBean(IdempotencyStore.class);
				IdempotencyKey key = new Namespace("").key("pay", Caller.GLOBAL, List.of("7"));
				ClaimRequest claim = ClaimRequest.of(key, Duration.ofMinutes(1), Duration.ofMinutes(1));
				store.claim(claim);
				assertThat(store.renew(key, claim.claimId(), Duration.ofMinutes(1))).isTrue();
			});
		pool.dispose();
	}

	@Test
	void poolOfAnotherLibraryFailsStartup() {
		ApplicationContextRunner other = this.runner.withBean(ConnectionFactory.class,
				() -> new OtherPool(connections(this.name)));
		other.run((context) -> assertThat(context).getFailure()
			.rootCause()
			.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
				assertThat(ex)
					.hasMessageContaining(OtherPool.class.getName() + " is not a connection pool of r2dbc-pool");
				assertThat(ex.action()).contains("@IdempotencyConnectionFactory", "idempotency.jdbc.pool-size to 0");
			}));
		other.withPropertyValues("idempotency.jdbc.pool-size=0")
			.run((context) -> assertThat(context).hasSingleBean(R2dbcIdempotencyStore.class));
	}

	@Test
	void connectionsThatAreOpenedForEachUseNeedNoOthers() {
		overR2dbc().run((context) -> assertThat(context).hasNotFailed());
	}

	static class Payments {

		private int payments;

		@Idempotent(key = "#order")
		public int pay(String order) {
			return ++this.payments;
		}

	}

	private record OtherPool(ConnectionFactory connections) implements ConnectionFactory {

		@Override
		public Publisher<? extends Connection> create() {
			return this.connections.create();
		}

		@Override
		public ConnectionFactoryMetadata getMetadata() {
			return this.connections.getMetadata();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Several {

		@Bean
		ConnectionFactory orders() {
			return connections("orders");
		}

		@Bean
		@IdempotencyConnectionFactory
		ConnectionFactory records() {
			return connections("marked");
		}

	}

	private static final class Routing extends AbstractRoutingConnectionFactory {

		Routing() {
			setLenientFallback(true);
			setTargetConnectionFactories(Map.of("a", connections("a")));
			setDefaultTargetConnectionFactory(connections("a"));
		}

		@Override
		protected Mono<Object> determineCurrentLookupKey() {
			return Mono.just("a");
		}

		@Override
		public ConnectionFactoryMetadata getMetadata() {
			return () -> "H2";
		}

	}

}
