package io.idempotency.it.jdbc;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.it.WithMockMvc;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresMySql;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.store.OwnThread;
import io.idempotency.test.DuplicateStorm;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.util.AopTestUtils;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.springframework.security.test.web.servlet.request.SecurityMockMvcRequestPostProcessors.csrf;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

/** A record that commits in the transaction of its work, through both doors. */
class JoinTests {

	@Nested
	@SpringBootTest(classes = { JoinApplication.class, H2.Database.class })
	class H2 extends Scenarios {

		@Configuration(proxyBeanMethods = false)
		static class Database {

			@Bean
			HikariDataSource dataSource() {
				HikariConfig config = new HikariConfig();
				config.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
				config.setMaximumPoolSize(12);
				return new HikariDataSource(config);
			}

		}

	}

	@Nested
	@RequiresPostgreSql
	@SpringBootTest(classes = { JoinApplication.class, PostgreSql.Database.class })
	class PostgreSql extends Scenarios {

		@Configuration(proxyBeanMethods = false)
		static class Database {

			@Bean
			DataSource dataSource() {
				return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase().pool(12);
			}

		}

	}

	/** The answer is encrypted also where it is attached after the commit. */
	@Nested
	@RequiresPostgreSql
	@SpringBootTest(classes = { JoinApplication.class, PostgreSql.Database.class },
			properties = "idempotency.encryption.keys.k1=q83vEjRWeJCrze8SNFZ4kA==")
	class Encrypted extends Scenarios {

		@Test
		void databaseHoldsNothingOfAnAnswer() throws Exception {
			assertThat(send("/join", Map.of()).getContentAsString()).startsWith("order in run");
			assertEncrypted("OrderController");
		}

		@Test
		void databaseHoldsNothingOfAResult() throws Exception {
			assertThat(this.proxy.place(this.ref)).startsWith("order in run");
			assertEncrypted("Orders.place(");
		}

		@Test
		void databaseHoldsNothingOfARememberedFailure() {
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> this.proxy.placeAndRemember(this.ref));
			assertEncrypted("placeAndRemember");
		}

		private void assertEncrypted(String operation) {
			List<Map<String, Object>> rows = this.jdbc.queryForList(
					"select result_format, result_body from idempotency_record where operation like ? and state = 'D'",
					"%" + operation + "%");
			assertThat(rows).isNotEmpty().allSatisfy((row) -> {
				assertThat(row.get("result_format")).isEqualTo("idempotency.encrypted1");
				assertThat(new String((byte[]) row.get("result_body"), StandardCharsets.ISO_8859_1)).contains("k1")
					.doesNotContain("in run");
			});
		}

		@Test
		void resultOfAnotherKeyIsRefusedAndNothingRuns() throws Exception {
			String mine = this.proxy.place(this.ref);
			byte[] moved = body();
			String other = this.ref + "-other";
			this.proxy.place(other);
			this.jdbc.update("update idempotency_record set result_body = ? where result_body = ?", moved, body());
			assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
				.isThrownBy(() -> this.proxy.place(other));
			assertThat(this.proxy.place(this.ref)).isEqualTo(mine);
			assertThat(runs()).isEqualTo(2);
		}

		/** Of the latest record. */
		private byte[] body() {
			return this.jdbc.queryForObject("select result_body from idempotency_record order by fence desc limit 1",
					byte[].class);
		}

	}

	@Nested
	@RequiresMariaDb
	@SpringBootTest(classes = { JoinApplication.class, MariaDb.Database.class })
	class MariaDb extends Scenarios {

		@Configuration(proxyBeanMethods = false)
		static class Database {

			@Bean
			DataSource dataSource() {
				return MariaDbServer.shared().newDatabase().pool(12);
			}

		}

	}

	@Nested
	@RequiresMySql
	@SpringBootTest(classes = { JoinApplication.class, MySql.Database.class })
	class MySql extends Scenarios {

		@Configuration(proxyBeanMethods = false)
		static class Database {

			@Bean
			DataSource dataSource() {
				return RealMySql.newDatabase().pool(12);
			}

		}

	}

	@WithMockMvc
	@WithMockUser
	abstract static class Scenarios {

		final String ref = UUID.randomUUID().toString();

		@Autowired
		JoinApplication.Orders proxy;

		@Autowired
		JdbcTemplate jdbc;

		@Autowired
		private PlatformTransactionManager transactionManager;

		@Autowired
		private MockMvc mvc;

		private JoinApplication.Orders orders;

		private int before;

		@BeforeEach
		void start() {
			this.orders = AopTestUtils.getTargetObject(this.proxy);
			this.before = this.orders.runs.get();
		}

		int runs() {
			return this.orders.runs.get() - this.before;
		}

		private int rows() {
			return this.jdbc.queryForObject("select count(*) from orders where ref like ?", Integer.class,
					this.ref + "%");
		}

		@Test
		void resultCommitsWithTheWork() throws Exception {
			String first = this.proxy.place(this.ref);
			assertThat(this.proxy.place(this.ref)).isEqualTo(first);
			assertThat(runs()).isEqualTo(1);
			assertThat(rows()).isEqualTo(1);
		}

		@Test
		void recordIsInTheTransactionThatTheMethodAsksFor() {
			assertThat(this.proxy.isolation(this.ref)).isEqualTo(TransactionDefinition.ISOLATION_SERIALIZABLE);
		}

		@Test
		void overlappingDuplicatesRunOnce() {
			List<String> results = DuplicateStorm.of(10).run((i) -> this.proxy.place(this.ref)).values();
			assertThat(results).isNotEmpty().containsOnly(results.get(0));
			assertThat(runs()).isEqualTo(1);
		}

		@Test
		void duplicateThatMeetsTheRunningCallHasABoundedWait() throws Exception {
			this.orders.running = new CountDownLatch(1);
			this.orders.mayEnd = new CountDownLatch(1);
			CompletableFuture<String> first = OwnThread.supply(() -> place(this.ref));
			this.orders.running.await();
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.proxy.place(this.ref));
			this.orders.mayEnd.countDown();
			assertThat(this.proxy.place(this.ref)).isEqualTo(first.join());
			assertThat(runs()).isEqualTo(1);
		}

		private String place(String reference) {
			try {
				return this.proxy.place(reference);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Test
		void rollbackOfACallerFreesTheKey() throws Exception {
			TransactionTemplate callers = new TransactionTemplate(this.transactionManager);
			callers.executeWithoutResult((status) -> {
				place(this.ref);
				status.setRollbackOnly();
			});
			assertThat(rows()).isZero();
			assertThat(this.proxy.place(this.ref)).isEqualTo("order in run " + this.orders.runs.get());
			assertThat(runs()).isEqualTo(2);
			assertThat(rows()).isEqualTo(1);
		}

		@Test
		void duplicateLeavesTheTransactionOfItsCallerAsItIs() throws Exception {
			this.proxy.place(this.ref);
			TransactionTemplate callers = new TransactionTemplate(this.transactionManager);
			callers.executeWithoutResult((status) -> {
				place(this.ref);
				this.jdbc.update("insert into orders (ref, note) values (?, 'mine')", this.ref + "-mine");
			});
			assertThat(rows()).isEqualTo(2);
			assertThat(runs()).isEqualTo(1);
		}

		@Test
		void silentRollbackIsAFailureAndFreesTheKey() {
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(UnexpectedRollbackException.class)
					.isThrownBy(() -> this.proxy.placeAndRollBack(this.ref));
			}
			assertThat(runs()).isEqualTo(2);
			assertThat(rows()).isZero();
		}

		@Test
		void failureIsRememberedAfterTheRollback() {
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> this.proxy.placeAndRemember(this.ref));
			assertThatExceptionOfType(RememberedFailureException.class)
				.isThrownBy(() -> this.proxy.placeAndRemember(this.ref))
				.withMessageContaining("failed in run " + this.orders.runs.get());
			assertThat(runs()).isEqualTo(1);
			assertThat(rows()).isZero();
		}

		@Test
		void duplicateOfTheBusinessIsLookedUpAfterTheRollback() throws Exception {
			this.jdbc.update("insert into orders (ref, note) values (?, 'an earlier one')", this.ref);
			assertThat(this.proxy.placeOrFind(this.ref)).isEqualTo("found an earlier one");
			assertThat(this.proxy.placeOrFind(this.ref)).isEqualTo("found an earlier one");
			assertThat(runs()).isEqualTo(1);
		}

		@Test
		void resultThatIsNotWantedIsForgottenWithTheCommit() throws Exception {
			this.proxy.placeAndForget(this.ref);
			this.proxy.placeAndForget(this.ref);
			assertThat(runs()).isEqualTo(2);
			assertThat(rows()).isEqualTo(2);
		}

		@Test
		void answerIsAttachedAfterTheCommit() throws Exception {
			MockHttpServletResponse first = send("/join", Map.of());
			MockHttpServletResponse second = send("/join", Map.of());
			assertThat(first.getStatus()).isEqualTo(201);
			assertThat(second.getContentAsByteArray()).isEqualTo(first.getContentAsByteArray()).isNotEmpty();
			assertThat(second.getHeader("Idempotent-Replayed")).isEqualTo("true");
			assertThat(runs()).isEqualTo(1);
			assertThat(rows()).isEqualTo(1);
		}

		@Test
		void answerOfACommittedEffectIsKeptWhateverItsStatus() throws Exception {
			assertThat(send("/join", Map.of("status", "503")).getStatus()).isEqualTo(503);
			MockHttpServletResponse second = send("/join", Map.of("status", "503"));
			assertThat(second.getStatus()).isEqualTo(503);
			assertThat(second.getHeader("Idempotent-Replayed")).isEqualTo("true");
			assertThat(runs()).isEqualTo(1);
			assertThat(rows()).isEqualTo(1);
		}

		@Test
		void failedHandlerIsRolledBackAndItsKeyFree() throws Exception {
			assertThat(send("/join/failing", Map.of("status", "503")).getStatus()).isEqualTo(503);
			assertThat(send("/join/failing", Map.of("status", "503")).getStatus()).isEqualTo(503);
			assertThat(runs()).isEqualTo(2);
			assertThat(rows()).isZero();
		}

		@Test
		void refusalOfARolledBackHandlerIsAResult() throws Exception {
			assertThat(send("/join/failing", Map.of("status", "422")).getStatus()).isEqualTo(422);
			MockHttpServletResponse second = send("/join/failing", Map.of("status", "422"));
			assertThat(second.getStatus()).isEqualTo(422);
			assertThat(second.getHeader("Idempotent-Replayed")).isEqualTo("true");
			assertThat(runs()).isEqualTo(1);
			assertThat(rows()).isZero();
		}

		MockHttpServletResponse send(String path, Map<String, String> parameters) throws Exception {
			var request = post(path).with(csrf()).header("Idempotency-Key", this.ref).queryParam("ref", this.ref);
			parameters.forEach(request::queryParam);
			return this.mvc.perform(request).andReturn().getResponse();
		}

	}

}
