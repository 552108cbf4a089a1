package io.idempotency.it.jdbc;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** Payments whose work and records share the application's pool, as by default. */
@SpringBootConfiguration(proxyBeanMethods = false)
@ImportAutoConfiguration(IdempotencyAutoConfiguration.class)
@EnableTransactionManagement
@Import(PoolApplication.Payments.class)
class PoolApplication {

	/**
	 * Starts the application.
	 * @param dataSource the pool, which is closed with it
	 * @param more a further bean
	 * @param properties its properties
	 * @return the application
	 */
	static ConfigurableApplicationContext start(DataSource dataSource, Class<?> more, String... properties) {
		return new SpringApplicationBuilder(PoolApplication.class, more).registerShutdownHook(false)
			.web(WebApplicationType.NONE)
			.initializers((context) -> ((GenericApplicationContext) context).registerBean("dataSource",
					DataSource.class, () -> dataSource))
			.run(Stream
				.concat(Stream.of("idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=always"),
						Stream.of(properties))
				.map((property) -> "--" + property)
				.toArray(String[]::new));
	}

	@Bean
	JdbcTemplate jdbcTemplate(DataSource dataSource) {
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute("create table if not exists payment (ref varchar(100) not null)");
		return jdbc;
	}

	@Bean
	PlatformTransactionManager transactionManager(DataSource dataSource) {
		return new DataSourceTransactionManager(dataSource);
	}

	/** What is guarded. */
	static class Payments {

		private final JdbcTemplate jdbc;

		volatile CountDownLatch running = new CountDownLatch(0);

		volatile CountDownLatch mayEnd = new CountDownLatch(0);

		Payments(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		/** Guarded outside of its transaction, which is the usual way. */
		@Transactional
		@Idempotent(key = "#ref")
		public String pay(String ref) {
			insert(ref);
			this.running.countDown();
			PoolApplication.await(this.mayEnd);
			return "paid " + ref;
		}

		@Transactional
		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN, conflict = ConflictMode.WAIT)
		public String join(String ref) {
			return pay(ref);
		}

		@Transactional
		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN)
		public String joinAtOnce(String ref) {
			return pay(ref);
		}

		@Transactional
		@Idempotent(key = "#ref", fingerprint = "#amount", transaction = TransactionMode.JOIN,
				conflict = ConflictMode.WAIT)
		public String joinAmount(String ref, int amount) {
			return pay(ref);
		}

		@Transactional
		@Idempotent(key = "#ref", mode = IdempotencyMode.REJECT, transaction = TransactionMode.JOIN)
		public String joinOnce(String ref) {
			return pay(ref);
		}

		@Idempotent(key = "#ref")
		public CompletableFuture<String> payLater(String ref, CompletableFuture<Void> work) {
			return work.thenApply((done) -> "paid " + ref);
		}

		private void insert(String ref) {
			this.jdbc.update("insert into payment (ref) values (?)", ref);
		}

	}

	/** Who has a transaction, and a connection, before a guarded method is called. */
	static class Callers {

		private final JdbcTemplate jdbc;

		private final Payments payments;

		volatile CountDownLatch inside = new CountDownLatch(0);

		Callers(JdbcTemplate jdbc, Payments payments) {
			this.jdbc = jdbc;
			this.payments = payments;
		}

		@Transactional
		public @Nullable String callInside(String ref) {
			this.jdbc.queryForObject("select count(*) from payment", Long.class);
			this.inside.countDown();
			PoolApplication.await(this.inside);
			return this.payments.pay(ref);
		}

		@Transactional
		public @Nullable String waitInside(String ref, CompletableFuture<Void> work) {
			this.jdbc.queryForObject("select count(*) from payment", Long.class);
			CompletableFuture<String> later = this.payments.payLater(ref, work);
			this.inside.countDown();
			PoolApplication.await(this.inside);
			work.complete(null);
			return later.orTimeout(1, TimeUnit.MINUTES).join();
		}

	}

	private static void await(CountDownLatch latch) {
		try {
			if (!latch.await(2, TimeUnit.MINUTES)) {
				throw new IllegalStateException("Waited for too long");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
