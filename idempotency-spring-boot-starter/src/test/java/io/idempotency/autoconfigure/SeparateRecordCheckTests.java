package io.idempotency.autoconfigure;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;

/**
 * Transactions that take each connection of their pool, as those of JTA do with a pool of
 * XA.
 */
@ExtendWith(OutputCaptureExtension.class)
class SeparateRecordCheckTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withPropertyValues("idempotency.jdbc.initialize-schema=always");

	/** Some pools show connections of their transactions that need no commit. */
	@Test
	void recordsThatAreAPartOfTransactionsOfOthersFailTheStart() {
		this.runner.withUserConfiguration(XaConfiguration.class).run((context) -> {
			Throwable failure = context.getStartupFailure();
			assertThat(failure).isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining(XaTransactionManager.class.getName());
			assertThat(((IdempotencyConfigurationException) failure).action()).contains("@IdempotencyDataSource");
		});
	}

	/** Such a claim is rejected in each call, too, and nothing runs. */
	@Test
	void claimThatFailsIsAWarning(CapturedOutput output) {
		this.runner.withPropertyValues("rejects=true").withUserConfiguration(XaConfiguration.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("Could not check whether idempotency records survive a rollback of "
					+ XaTransactionManager.class.getName());
		});
	}

	/** A manager that routes by tenant knows none at the start. */
	@ParameterizedTest
	@ValueSource(classes = { BeginsNothing.class, RollsNothingBack.class })
	void managerThatCannotBeTriedOutIsNotRejected(Class<?> setup) {
		this.runner.withUserConfiguration(Marked.class, setup)
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(JdbcIdempotencyStore.class));
	}

	@Test
	void recordsOfADataSourceOfTheirOwnStay() {
		this.runner.withUserConfiguration(XaConfiguration.class, Marked.class)
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(JdbcIdempotencyStore.class));
	}

	private static DataSource h2() {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		return database;
	}

	@Configuration(proxyBeanMethods = false)
	static class XaConfiguration {

		@Bean
		XaPool dataSource(@Value("${rejects:false}") boolean rejects) {
			return new XaPool(h2(), rejects);
		}

		@Bean
		PlatformTransactionManager transactionManager(XaPool dataSource) {
			return new XaTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Marked {

		@Bean
		@IdempotencyDataSource
		DataSource records() {
			return h2();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BeginsNothing {

		@Bean
		PlatformTransactionManager transactionManager() {
			PlatformTransactionManager manager = mock(PlatformTransactionManager.class);
			given(manager.getTransaction(any())).willThrow(new IllegalStateException("No tenant"));
			return manager;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RollsNothingBack {

		@Bean
		PlatformTransactionManager transactionManager() {
			PlatformTransactionManager manager = mock(PlatformTransactionManager.class);
			willThrow(new IllegalStateException("No tenant")).given(manager).rollback(any());
			return manager;
		}

	}

	/** Gives the one connection of the transaction that is open. */
	static final class XaPool extends DelegatingDataSource {

		private final boolean rejects;

		private @Nullable Connection enlisted;

		XaPool(DataSource database, boolean rejects) {
			super(database);
			this.rejects = rejects;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection open = this.enlisted;
			return (open == null) ? super.getConnection()
					: (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
							new Class<?>[] { Connection.class },
							(proxy, method, arguments) -> switch (method.getName()) {
								case "close", "setAutoCommit" -> null;
								case "getAutoCommit" -> !this.rejects;
								case "commit", "rollback" -> throw new SQLException("A global transaction runs");
								default -> method.invoke(open, arguments);
							});
		}

		void begin() throws SQLException {
			Connection connection = super.getConnection();
			connection.setAutoCommit(false);
			this.enlisted = connection;
		}

		void rollback() throws SQLException {
			Connection open = this.enlisted;
			this.enlisted = null;
			if (open != null) {
				open.rollback();
				open.close();
			}
		}

	}

	private static final class XaTransactionManager extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		private final transient XaPool pool;

		XaTransactionManager(XaPool pool) {
			this.pool = pool;
		}

		@Override
		protected Object doGetTransaction() {
			return this.pool;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			try {
				this.pool.begin();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			doRollback(status);
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			try {
				this.pool.rollback();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
