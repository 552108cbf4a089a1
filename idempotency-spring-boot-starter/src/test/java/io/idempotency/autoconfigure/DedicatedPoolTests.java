package io.idempotency.autoconfigure;

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.logging.Logger;

import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Causes;
import io.idempotency.store.ClaimId;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The dedicated connections of the JDBC store. The pools of these tests are seen by JMX,
 * as an operator sees them.
 */
class DedicatedPoolTests {

	private final String name = "pool-" + UUID.randomUUID();

	private final String url = "jdbc:h2:mem:" + this.name + ";DB_CLOSE_DELAY=-1";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withPropertyValues("idempotency.jdbc.initialize-schema=always");

	private HikariConfig config() {
		HikariConfig config = new HikariConfig();
		config.setPoolName(this.name);
		config.setRegisterMbeans(true);
		config.setJdbcUrl(this.url);
		config.setUsername("sa");
		config.setMaximumPoolSize(5);
		return config;
	}

	private ApplicationContextRunner with(Supplier<? extends DataSource> dataSource) {
		return this.runner.withBean("dataSource", DataSource.class, dataSource::get);
	}

	/** An attribute of the dedicated pool, {@code null} if there is no such pool. */
	private Object attribute(String type, String attribute) throws Exception {
		MBeanServer server = ManagementFactory.getPlatformMBeanServer();
		ObjectName pool = new ObjectName("com.zaxxer.hikari:type=" + type + " (" + this.name + "-idempotency)");
		return server.isRegistered(pool) ? server.getAttribute(pool, attribute) : null;
	}

	private Object size() throws Exception {
		return attribute("PoolConfig", "MaximumPoolSize");
	}

	@Test
	void poolIsMadeLikeThatOfTheApplication() {
		HikariConfig config = config();
		config.setConnectionInitSql("SET @made_by = 'the application'");
		config.setSchema("PUBLIC");
		config.setMaxLifetime(1_234_567);
		with(() -> new HikariDataSource(config)).withPropertyValues("idempotency.store-timeout=1500ms")
			.run((context) -> {
				assertThat(context).hasSingleBean(DataSource.class);
				renew(context);
				assertThat(size()).isEqualTo(3);
				assertThat(attribute("PoolConfig", "MinimumIdle")).isEqualTo(1);
				assertThat(attribute("PoolConfig", "ConnectionTimeout")).isEqualTo(1500L);
				assertThat(attribute("PoolConfig", "ValidationTimeout")).isEqualTo(1500L);
				assertThat(attribute("PoolConfig", "MaxLifetime")).isEqualTo(1_234_567L);
				context.getBean(IdempotencyTemplate.class).operation("test").key("k1").run(() -> {
				});
			});
	}

	@Test
	void poolIsClosedAfterTheEngine() throws Exception {
		with(() -> new HikariDataSource(config())).withBean(AtTheEnd.class, () -> new AtTheEnd(this::size))
			.run((context) -> {
				AtTheEnd end = context.getBean(AtTheEnd.class);
				renew(context);
				context.getSourceApplicationContext().close();
				assertThat(end.size).isEqualTo(3);
			});
		assertThat(size()).isNull();
	}

	@Test
	void sizeIsThatOfTheProperty() {
		with(() -> new HikariDataSource(config())).withPropertyValues("idempotency.jdbc.pool-size=1").run((context) -> {
			renew(context);
			assertThat(size()).isEqualTo(1);
		});
	}

	@Test
	void zeroMeansNone() {
		with(() -> new HikariDataSource(config())).withPropertyValues("idempotency.jdbc.pool-size=0").run((context) -> {
			assertThat(context).hasSingleBean(JdbcIdempotencyStore.class);
			renew(context);
			assertThat(size()).isNull();
		});
	}

	@Test
	void negativeSizeFailsStartup() {
		with(() -> new HikariDataSource(config())).withPropertyValues("idempotency.jdbc.pool-size=-1")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("idempotency.jdbc.pool-size"));
	}

	@Test
	void poolIsFoundBehindDecoratorsAndProxies() {
		with(() -> new LazyConnectionDataSourceProxy(new DelegatingDataSource(new HikariDataSource(config()))))
			.run((context) -> assertThat(size()).isEqualTo(3));
		with(() -> {
			ProxyFactory proxy = new ProxyFactory(new HikariDataSource(config()));
			proxy.setProxyTargetClass(true);
			return (DataSource) proxy.getProxy();
		}).run((context) -> assertThat(size()).isEqualTo(3));
	}

	@Test
	void credentialsAreThoseThatTheApplicationHasAtThatMoment() {
		HikariConfig config = config();
		config.setUsername("stale");
		with(() -> new Computing(config)).run((context) -> {
			assertThat(size()).isEqualTo(3);
			assertThat(new JdbcTemplate(context.getBean(DataSource.class))
				.queryForList("select user_name from information_schema.sessions", String.class)).hasSizeGreaterThan(1)
				.containsOnly("SA");
		});
	}

	@Test
	void markedDataSourceServesAll() {
		this.runner.withBean(DedicatedPoolTests.class, () -> this)
			.withUserConfiguration(Marked.class)
			.run((context) -> {
				assertThat(context).hasSingleBean(JdbcIdempotencyStore.class);
				assertThat(size()).isNull();
			});
	}

	@Test
	void dataSourceThatDoesNotPoolNeedsNone() {
		JdbcDataSource ofTheDriver = new JdbcDataSource();
		ofTheDriver.setURL(this.url);
		for (DataSource unpooled : List.of(new DriverManagerDataSource(this.url), ofTheDriver,
				new DelegatingDataSource(ofTheDriver))) {
			with(() -> unpooled).run((context) -> assertThat(context).hasSingleBean(JdbcIdempotencyStore.class));
		}
	}

	@Test
	void embeddedDatabaseNeedsNone() {
		with(() -> new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build())
			.run((context) -> assertThat(context).hasSingleBean(JdbcIdempotencyStore.class));
	}

	@Test
	void poolThatIsNotHikariFailsStartup() {
		ApplicationContextRunner foreign = with(() -> new Foreign(new DriverManagerDataSource(this.url)));
		foreign.run((context) -> assertRejected(context, Foreign.class.getName() + " is not a HikariCP pool"));
		foreign.withPropertyValues("idempotency.jdbc.pool-size=0")
			.run((context) -> assertThat(context).hasSingleBean(JdbcIdempotencyStore.class));
	}

	/**
	 * The configuration is copied by reflection, for which a native image needs hints.
	 */
	@Test
	void poolThatCopiesNothingFailsStartup() {
		with(() -> new HikariDataSource(config()) {

			@Override
			public void copyStateTo(HikariConfig other) {
				// Nothing.
			}

		}).run((context) -> assertRejected(context, "could not be copied"));
	}

	/** Renewals would not find the records of their claims. */
	@Test
	void decoratorThatSelectsAnotherSchemaFailsStartup() {
		new JdbcTemplate(new DriverManagerDataSource(this.url, "sa", "")).execute("create schema tenant");
		ApplicationContextRunner decorated = with(() -> new DelegatingDataSource(new HikariDataSource(config())) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				connection.setSchema("TENANT");
				return connection;
			}

		});
		decorated.run((context) -> assertRejected(context, "does not lead to the same table"));
		new JdbcSchema(new DriverManagerDataSource(this.url, "sa", ""), "idempotency_record").create();
		decorated.run((context) -> assertRejected(context, "does not lead to the same table"));
		decorated.withPropertyValues("idempotency.jdbc.pool-size=0")
			.run((context) -> assertThat(context).hasSingleBean(JdbcIdempotencyStore.class));
	}

	private static void assertRejected(AssertableApplicationContext context, String reason) {
		assertThat(context).getFailure()
			.satisfies((failure) -> assertThat(
					Causes.of(failure).filter(IdempotencyConfigurationException.class::isInstance))
				.singleElement(InstanceOfAssertFactories.type(IdempotencyConfigurationException.class))
				.satisfies((ex) -> {
					assertThat(ex).hasMessageContaining(reason);
					assertThat(ex.action()).contains("@IdempotencyDataSource", "idempotency.jdbc.pool-size to 0");
				}));
	}

	@Test
	void opensFirstConnectionWhenNeeded() {
		with(() -> new HikariDataSource(config())).run((context) -> {
			assertThat(context).hasSingleBean(JdbcIdempotencyStore.class);
			assertThat(size()).isNull();
			renew(context);
			assertThat(size()).isEqualTo(3);
		});
	}

	/** The first renewal opens the pool. */
	private static void renew(ApplicationContext context) {
		context.getBean(IdempotencyStore.class)
			.renew(IdempotencyKey.of("test", Caller.GLOBAL, "1"), ClaimId.random(), Duration.ofSeconds(30));
	}

	/** Looks when all other parts of the application have stopped. */
	static final class AtTheEnd implements SmartLifecycle {

		private final Callable<Object> look;

		private Object size;

		private boolean running;

		AtTheEnd(Callable<Object> look) {
			this.look = look;
		}

		@Override
		public void start() {
			this.running = true;
		}

		@Override
		public void stop() {
			try {
				this.size = this.look.call();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return Integer.MIN_VALUE;
		}

	}

	/** As for a database whose passwords are short-lived. */
	static final class Computing extends HikariDataSource {

		Computing(HikariConfig config) {
			config.copyStateTo(this);
		}

		@Override
		public Credentials getCredentials() {
			return Credentials.of("sa", "");
		}

	}

	/** Somebody's pool. */
	static final class Foreign implements DataSource {

		private final DataSource target;

		Foreign(DataSource target) {
			this.target = target;
		}

		@Override
		public Connection getConnection() throws SQLException {
			return this.target.getConnection();
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return this.target.getConnection(username, password);
		}

		@Override
		public PrintWriter getLogWriter() throws SQLException {
			return this.target.getLogWriter();
		}

		@Override
		public void setLogWriter(PrintWriter out) throws SQLException {
			this.target.setLogWriter(out);
		}

		@Override
		public void setLoginTimeout(int seconds) throws SQLException {
			this.target.setLoginTimeout(seconds);
		}

		@Override
		public int getLoginTimeout() throws SQLException {
			return this.target.getLoginTimeout();
		}

		@Override
		public Logger getParentLogger() {
			return Logger.getGlobal();
		}

		@Override
		public <T> T unwrap(Class<T> type) throws SQLException {
			throw new SQLException("Nothing is wrapped");
		}

		@Override
		public boolean isWrapperFor(Class<?> type) {
			return false;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Marked {

		@Bean
		@Primary
		DataSource orders(DedicatedPoolTests test) {
			return new DriverManagerDataSource(test.url);
		}

		@Bean
		@IdempotencyDataSource
		DataSource records(DedicatedPoolTests test) {
			return new HikariDataSource(test.config());
		}

	}

}
