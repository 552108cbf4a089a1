package io.idempotency.it.early;

import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.Rights.Body;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** With results that this node has seen in PostgreSQL. */
@Requires(Backend.POSTGRESQL)
@ContextConfiguration(initializers = EarlyReplayOnPostgreSqlTests.Database.class)
@TestPropertySource(properties = { "idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=always" })
@Import(EarlyReplayOnPostgreSqlTests.Joined.class)
class EarlyReplayOnPostgreSqlTests extends EarlyReplayContract {

	private static final AtomicInteger BEGUN = new AtomicInteger();

	private final TransactionTemplate callers;

	EarlyReplayOnPostgreSqlTests(@Autowired PlatformTransactionManager transactions) {
		this.callers = new TransactionTemplate(transactions);
	}

	/** Its transaction would be the first thing that it needs. */
	@Test
	void duplicateThatWouldJoinATransactionBeginsNone() throws Exception {
		Answer first = send("/early/joined");
		int parsed = Body.parsed();
		int begun = BEGUN.get();
		Answer second = send("/early/joined");
		assertThat(second.replayed()).isTrue();
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(Body.parsed()).isEqualTo(parsed);
		assertThat(BEGUN).hasValue(begun);
	}

	@Test
	void handlerThatNeedsATransactionOfItsCallerIsRejectedAsEver() throws Exception {
		Answer first = this.callers.execute((status) -> sendInside("/early/mandatory"));
		assertThat(first.status()).isEqualTo(200);
		assertThatException().isThrownBy(() -> send("/early/mandatory")).withMessageContaining("mandatory");
		Answer second = this.callers.execute((status) -> sendInside("/early/mandatory"));
		assertThat(second.replayed()).isTrue();
	}

	private Answer sendInside(String path) {
		try {
			return send(path);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Gives the application a database of its own. */
	static final class Database implements ApplicationContextInitializer<ConfigurableApplicationContext> {

		@Override
		public void initialize(ConfigurableApplicationContext context) {
			DataSource pool = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_16).newDatabase().pool(10);
			((GenericApplicationContext) context).registerBean("dataSource", DataSource.class, () -> pool);
		}

	}

	@RestController
	@EnableTransactionManagement
	static class Joined {

		@Bean
		static PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new DataSourceTransactionManager(dataSource) {

				@Override
				protected void doBegin(Object transaction, TransactionDefinition definition) {
					BEGUN.incrementAndGet();
					super.doBegin(transaction, definition);
				}

			};
		}

		@PostMapping("/early/joined")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public String join(@RequestBody Body body) {
			return "joined";
		}

		@PostMapping("/early/mandatory")
		@Transactional(propagation = Propagation.MANDATORY)
		@Idempotent(transaction = TransactionMode.JOIN)
		public String need(@RequestBody Body body) {
			return "needed";
		}

	}

}
