package io.idempotency.it.jdbc;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyDataSource;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Data sources that choose a database for each connection: by the tenant of the thread,
 * or a replica for transactions that read.
 */
@EachDatabase(value = {}, and = Database.POSTGRESQL_18)
class RoutedDataSourceTests {

	private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

	private final DataSource one;

	private final DataSource two;

	private final DataSource replica;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withPropertyValues("idempotency.store=jdbc")
		.withUserConfiguration(Transactions.class);

	RoutedDataSourceTests(TestDatabase database) {
		this.one = database.sharedPool("one", 4);
		this.two = database.share("two", () -> database.another().newPool(4));
		this.replica = database.share("replica", () -> database.newPool(4,
				(config) -> config.setConnectionInitSql("set default_transaction_read_only = on")));
		database.once("work", () -> {
			new JdbcTemplate(this.one).execute("create table work (id varchar(100))");
			new JdbcTemplate(this.two).execute("create table work (id varchar(100))");
		});
	}

	private AbstractRoutingDataSource byTenant() {
		return router(new AbstractRoutingDataSource() {

			@Override
			protected @Nullable Object determineCurrentLookupKey() {
				return TENANT.get();
			}

		}, Map.of("one", this.one, "two", this.two));
	}

	private AbstractRoutingDataSource byReading() {
		return router(new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return TransactionSynchronizationManager.isCurrentTransactionReadOnly() ? "replica" : "one";
			}

		}, Map.of("one", this.one, "replica", this.replica));
	}

	private AbstractRoutingDataSource router(AbstractRoutingDataSource router, Map<Object, Object> targets) {
		router.setTargetDataSources(targets);
		router.setDefaultTargetDataSource(this.one);
		router.afterPropertiesSet();
		return router;
	}

	@Test
	void recordsOfADatabaseForEachTenantAreRejected() {
		assertRejected(byTenant());
	}

	@Test
	void recordsOfADatabaseForEachTenantAreRejectedBehindProxies() {
		assertRejected(new LazyConnectionDataSourceProxy(byTenant()));
		assertRejected(new TransactionAwareDataSourceProxy(new LazyConnectionDataSourceProxy(byTenant())));
	}

	private void assertRejected(DataSource routed) {
		this.runner.withBean("routed", DataSource.class, () -> routed)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("selects a database for each connection");
					assertThat(ex.action()).contains("@IdempotencyDataSource");
				}));
	}

	@Test
	void workOfTenantsEndsInTheFixedDatabaseOfTheRecords() {
		this.runner.withBean("routed", DataSource.class, this::byTenant, (definition) -> definition.setPrimary(true))
			.withBean("records", DataSource.class, () -> this.one, RoutedDataSourceTests::ofRecords)
			.withBean(Work.class)
			.run((context) -> {
				Work work = context.getBean(Work.class);
				String id = UUID.randomUUID().toString();
				TENANT.set("two");
				try {
					CompletableFuture<Void> answer = work.later(id);
					assertThat(answer).isNotDone();
					// The thread that ends the work is no tenant's.
					CompletableFuture.runAsync(() -> work.end()).join();
					answer.join();
					work.later(id).join();
				}
				finally {
					TENANT.remove();
				}
				assertThat(count(this.two, id)).isEqualTo(1);
				assertThat(count(this.one, id)).isZero();
			});
	}

	@Test
	void recordIsNotClaimedOnAReplicaInATransactionThatReads() {
		this.runner
			.withBean("routed", DataSource.class, () -> new LazyConnectionDataSourceProxy(byReading()),
					RoutedDataSourceTests::ofRecords)
			.withBean(Work.class)
			.run((context) -> {
				Work work = context.getBean(Work.class);
				TransactionTemplate reading = new TransactionTemplate(context.getBean(JdbcTransactionManager.class));
				reading.setReadOnly(true);
				String id = UUID.randomUUID().toString();
				reading.executeWithoutResult((status) -> {
					work.run(id);
					assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly()).isTrue();
				});
				work.run(id);
				assertThat(work.runs()).isEqualTo(1);
			});
	}

	private static void ofRecords(BeanDefinition definition) {
		AbstractBeanDefinition records = (AbstractBeanDefinition) definition;
		records.addQualifier(new AutowireCandidateQualifier(IdempotencyDataSource.class));
		// The context leaves it open for the next one.
		records.setDestroyMethodName("");
	}

	private static int count(DataSource data, String id) {
		Integer count = new JdbcTemplate(data).queryForObject("select count(*) from work where id = ?", Integer.class,
				id);
		return (count != null) ? count : 0;
	}

	static class Work {

		private final CompletableFuture<@Nullable Void> ends = new CompletableFuture<>();

		private final JdbcTemplate jdbc;

		private int runs;

		Work(@Qualifier("routed") DataSource data) {
			this.jdbc = new JdbcTemplate(data);
		}

		@Idempotent("{'two', #id}")
		public CompletableFuture<@Nullable Void> later(String id) {
			this.jdbc.update("insert into work values (?)", id);
			return this.ends;
		}

		@Idempotent("#id")
		public void run(String id) {
			this.runs++;
		}

		void end() {
			this.ends.complete(null);
		}

		int runs() {
			return this.runs;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Transactions {

		@Bean
		JdbcTransactionManager transactionManager(@Qualifier("routed") DataSource data) {
			return new JdbcTransactionManager(data);
		}

	}

}
