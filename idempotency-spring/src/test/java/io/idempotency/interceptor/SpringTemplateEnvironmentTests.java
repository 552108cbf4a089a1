package io.idempotency.interceptor;

import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.RememberedFailureException;
import io.idempotency.TransactionMode;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Namespace;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/** A template in an application: its transactions, its stores, its failures. */
class SpringTemplateEnvironmentTests {

	private final JdbcDataSource dataSource = dataSource();

	private final JdbcTemplate database = new JdbcTemplate(this.dataSource);

	private final StaticListableBeanFactory beans = new StaticListableBeanFactory();

	private final ResultCodec codec = new Jackson2ResultCodec(new ObjectMapper());

	private final IdempotencyEngine engine = new IdempotencyEngine(10, IdempotencyListener.NONE);

	private final IdempotencyTemplate template = new DefaultIdempotencyTemplate(this.engine,
			new JdbcIdempotencyStore(this.dataSource), this.codec, IdempotencyOptions.DEFAULTS,
			new SpringTemplateEnvironment(this.beans, this.codec, () -> Caller.ANONYMOUS), Namespace.NONE);

	private final AtomicInteger runs = new AtomicInteger();

	private static JdbcDataSource dataSource() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:template;DB_CLOSE_DELAY=-1");
		return dataSource;
	}

	@BeforeEach
	void createTables() {
		new JdbcSchema(this.dataSource, JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
		this.database.execute("create table payment (id varchar(10) primary key)");
	}

	@AfterEach
	void close() {
		this.engine.close();
		this.database.execute("drop all objects");
	}

	private void pay(String id, @Nullable RuntimeException failure) {
		this.template.operation("payment").key(id).transaction(TransactionMode.JOIN).run(() -> {
			this.runs.incrementAndGet();
			this.database.update("insert into payment values (?)", id);
			if (failure != null) {
				throw failure;
			}
		});
	}

	private int count(String table) {
		Integer count = this.database.queryForObject("select count(*) from " + table, Integer.class);
		return (count != null) ? count : -1;
	}

	@Test
	void recordCommitsWithTheWork() {
		this.beans.addBean("transactionManager", new JdbcTransactionManager(this.dataSource));
		pay("7", null);
		pay("7", null);
		assertThat(this.runs).hasValue(1);
		assertThat(count("payment")).isOne();
		assertThat(count(JdbcIdempotencyStore.DEFAULT_TABLE_NAME)).isOne();
	}

	@Test
	void duplicateBeginsNoTransaction() {
		CountingManager manager = new CountingManager(this.dataSource);
		this.beans.addBean("transactionManager", manager);
		pay("7", null);
		pay("7", null);
		assertThat(this.runs).hasValue(1);
		assertThat(manager.begun).isEqualTo(1);
	}

	@Test
	void duplicateInATransactionOfItsCallerIsAPartOfIt() {
		CountingManager manager = new CountingManager(this.dataSource);
		this.beans.addBean("transactionManager", manager);
		pay("7", null);
		new TransactionTemplate(manager).executeWithoutResult((status) -> {
			this.database.update("delete from payment");
			this.database.update("delete from " + JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
			pay("7", null);
			status.setRollbackOnly();
		});
		assertThat(this.runs).as("the transaction does not see the record").hasValue(2);
		assertThat(count("payment")).isOne();
	}

	/** The scope of the caller may hold the only connection of the pool. */
	@Test
	void duplicateInAScopeWithoutATransactionTakesNoSecondConnection() {
		CountingManager manager = new CountingManager(this.dataSource);
		this.beans.addBean("transactionManager", manager);
		pay("7", null);
		TransactionTemplate supporting = new TransactionTemplate(manager);
		supporting.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
		supporting.executeWithoutResult((status) -> pay("7", null));
		assertThat(manager.begun).isEqualTo(2);
		assertThat(this.runs).hasValue(1);
	}

	/** As a session that is open for a whole request, which may hold a connection. */
	@Test
	void duplicateOfAThreadThatHoldsAResourceTakesNoSecondConnection() {
		CountingManager manager = new CountingManager(this.dataSource);
		this.beans.addBean("transactionManager", manager);
		pay("7", null);
		TransactionSynchronizationManager.bindResource("session factory", "session");
		try {
			pay("7", null);
		}
		finally {
			TransactionSynchronizationManager.unbindResource("session factory");
		}
		assertThat(manager.begun).isEqualTo(2);
		assertThat(this.runs).hasValue(1);
	}

	private static final class CountingManager extends JdbcTransactionManager {

		private int begun;

		CountingManager(DataSource dataSource) {
			super(dataSource);
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			this.begun++;
			super.doBegin(transaction, definition);
		}

	}

	@Test
	void recordIsGoneWithTheWork() {
		this.beans.addBean("transactionManager", new JdbcTransactionManager(this.dataSource));
		IllegalStateException failure = new IllegalStateException("failed");
		assertThatIllegalStateException().isThrownBy(() -> pay("7", failure)).isSameAs(failure);
		assertThat(count("payment")).isZero();
		assertThat(count(JdbcIdempotencyStore.DEFAULT_TABLE_NAME)).isZero();
		pay("7", null);
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void whereThereIsNoTransactionToJoinNothingRuns() {
		assertThatIllegalArgumentException().isThrownBy(() -> pay("7", null))
			.withMessageContaining("transaction manager");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void storesAreFoundByName() {
		MemoryIdempotencyStore memory = new MemoryIdempotencyStore(1_000_000);
		this.beans.addBean("fast", memory);
		this.template.operation("o").key("7").store("fast").run(this.runs::incrementAndGet);
		assertThat(memory.size()).isOne();
		assertThat(count(JdbcIdempotencyStore.DEFAULT_TABLE_NAME)).isZero();
		assertThatIllegalArgumentException().isThrownBy(() -> this.template.operation("o").key("7").store("unknown"))
			.withMessageContaining("'unknown'");
	}

	@Test
	void rememberedFailureKeepsItsStatus() {
		for (int i = 0; i < 2; i++) {
			Throwable thrown = catchThrowable(() -> this.template.operation("o")
				.key("7")
				.onFailure(FailureMode.REMEMBER)
				.execute(String.class, () -> {
					throw new ResponseStatusException(HttpStatus.NOT_FOUND);
				}));
			assertThat(thrown)
				.isInstanceOf((i == 0) ? ResponseStatusException.class : RememberedFailureException.class);
		}
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.template.operation("o").key("7").execute(String.class, () -> "two"))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(404));
	}

}
