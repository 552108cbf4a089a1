package io.idempotency.proofs.history;

import java.nio.file.Path;
import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.SqlDatabase;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactoryOptions;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** A small application of either stack that writes down what it does. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ HistoryApplication.Servlets.class, HistoryApplication.WebFlux.class, HistoryApplication.Database.class })
class HistoryApplication {

	private static final int POOL = 10;

	private static final long PATIENCE_MILLIS = 800;

	public static void main(String[] args) {
		SpringApplication.run(HistoryApplication.class, args);
	}

	@Bean
	Journal journal(Environment environment) {
		return new Journal(Path.of(environment.getRequiredProperty("test.journal")));
	}

	@Bean
	HistoryWork work(Environment environment, Journal journal) {
		return new HistoryWork(environment.getRequiredProperty("test.process"), journal,
				environment.getRequiredProperty("idempotency.lease", Duration.class));
	}

	@Bean
	StallWatch stallWatch(Environment environment, Journal journal) {
		String process = environment.getRequiredProperty("test.process");
		return new StallWatch(process.substring(0, process.indexOf('-')), journal);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	@Import(HistoryController.class)
	static class Servlets {

		@Bean
		SecurityFilterChain security(HttpSecurity http) throws Exception {
			// WebFlux has this header by default, and answers of both are compared.
			return http.csrf((csrf) -> csrf.disable())
				.headers((headers) -> headers.referrerPolicy(Customizer.withDefaults()))
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
	@Import({ ReactiveHistoryController.class, ReactiveDatabase.class })
	static class WebFlux {

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.build();
		}

	}

	/** The same database over R2DBC. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty("test.r2dbc.url")
	static class ReactiveDatabase {

		/** The store does not wait so long for one; the first of a JVM may take it. */
		private static final Duration PATIENCE = Duration.ofSeconds(5);

		@Bean(destroyMethod = "dispose")
		ConnectionPool connections(Environment environment) {
			return new ConnectionPool(ConnectionPoolConfiguration.builder(ConnectionFactories
				.get(ConnectionFactoryOptions.parse(environment.getRequiredProperty("test.r2dbc.url"))
					.mutate()
					.option(ConnectionFactoryOptions.CONNECT_TIMEOUT, PATIENCE)
					.build()))
				.maxSize(POOL)
				.maxAcquireTime(PATIENCE)
				.build());
		}

	}

	/** The database of the records, where they are kept in one. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty("test.database.url")
	@EnableTransactionManagement
	@Import(JoinedController.class)
	static class Database {

		@Bean
		HikariDataSource dataSource(Environment environment) {
			return new SqlDatabase(environment.getRequiredProperty("test.database.url"), 0,
					environment.getRequiredProperty("test.database.user"))
				.pool(POOL, (config) -> {
					config.setConnectionTimeout(PATIENCE_MILLIS);
					config.setValidationTimeout(PATIENCE_MILLIS / 2);
				});
		}

		@Bean
		JdbcTemplate jdbcTemplate(DataSource dataSource) {
			return new JdbcTemplate(dataSource);
		}

		/** The one that Boot takes. */
		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource,
				ObjectProvider<TransactionExecutionListener> listeners) {
			JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
			listeners.orderedStream().forEach(manager::addListener);
			return manager;
		}

	}

}
