package io.idempotency.proofs.history;

import java.nio.file.Path;
import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.SqlDatabase;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** A small application that writes down what it does. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ HistoryController.class, HistoryApplication.Database.class })
class HistoryApplication {

	public static void main(String[] args) {
		SpringApplication.run(HistoryApplication.class, args);
	}

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
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

	/** The database of the records, where they are kept in one. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty("test.database.url")
	@EnableTransactionManagement
	@Import(JoinedController.class)
	static class Database {

		private static final int POOL = 10;

		private static final long PATIENCE_MILLIS = 800;

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
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

}
