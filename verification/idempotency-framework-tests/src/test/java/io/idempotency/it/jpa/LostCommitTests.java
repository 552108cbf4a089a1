package io.idempotency.it.jpa;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTimeoutException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import javax.sql.DataSource;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import org.aopalliance.intercept.MethodInterceptor;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.dao.DataAccessException;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A commit that was tried and not answered: the work may be there, so its key is not
 * free. A commit that was answered with an error is none, and frees the key.
 */
class LostCommitTests {

	private static final Map<Manager, ConfigurableApplicationContext> applications = new ConcurrentHashMap<>();

	private static final HttpClient client = HttpClient.newHttpClient();

	private final String ref = UUID.randomUUID().toString();

	@AfterAll
	static void stop() {
		applications.values().forEach(ConfigurableApplicationContext::close);
		applications.clear();
	}

	@AfterEach
	void commitAsUsual() {
		applications.values().forEach((application) -> application.getBean(Losing.class).answer.set(Answers.DONE));
	}

	@EachManager
	void handlerWhoseCommitIsNotAnsweredKeepsItsKey(Manager manager) {
		assertKept(manager, "/pay");
	}

	@EachManager
	void taskWhoseCommitIsNotAnsweredKeepsItsKey(Manager manager) {
		assertKept(manager, "/pay-by-task");
	}

	@EachManager
	void futureOfTheThreadWhoseCommitIsNotAnsweredKeepsItsKey(Manager manager) {
		assertKept(manager, "/pay-by-future");
	}

	/** The answer says that the call may be tried again. */
	@EachManager
	void answerThatWouldFreeTheKeyKeepsIt(Manager manager) {
		assertKept(manager, "/pay-or-503");
	}

	/** The failure that is written down behind it is another transaction, and fails. */
	@EachManager
	void rollbackOfALaterTransactionTellsNothingOfThatCommit(Manager manager) {
		assertKept(manager, "/pay-and-fail-again");
	}

	private void assertKept(Manager manager, String path) {
		Shop shop = shop(manager, Answers.LOST);
		assertThat(shop.post(path, this.ref).status()).isGreaterThanOrEqualTo(500);
		shop.losing().answer.set(Answers.DONE);
		Answer second = shop.post(path, this.ref);
		assertThat(second.text()).contains("in-progress");
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	/** As by a driver that has connected anew by itself. */
	@EachManager
	void handlerIsToldByTheExceptionAlone(Manager manager) {
		assertToldByTheException(manager, Answers.LOST_AND_CONNECTED_ANEW);
	}

	/** The driver of MariaDB with several hosts. */
	@EachManager
	void handlerIsToldByTheStateOfALostTransaction(Manager manager) {
		assertToldByTheException(manager, Answers.LOST_IN_TRANSACTION);
	}

	@EachManager
	void handlerIsToldByTheTypeOfTheException(Manager manager) {
		assertToldByTheException(manager, Answers.LOST_WITHOUT_STATE);
	}

	private void assertToldByTheException(Manager manager, Answers answer) {
		Shop shop = shop(manager, answer);
		assertThat(shop.post("/pay", this.ref).status()).isEqualTo(500);
		shop.losing().answer.set(Answers.DONE);
		assertThat(shop.post("/pay", this.ref).text()).contains("in-progress");
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	@EachManager
	void handlerThatAdviceCallsOnceMoreIsRejected(Manager manager) {
		Shop shop = shop(manager, Answers.LOST);
		assertThat(shop.post("/pay-and-retry", this.ref).status()).isEqualTo(500);
		assertThat(shop.post("/pay-and-retry", this.ref).text()).contains("in-progress");
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	@EachManager
	void whatHasCommittedIsFoundWhenTheLeaseIsOver(Manager manager) {
		Shop shop = shop(manager, Answers.LOST);
		assertThat(shop.post("/pay-or-find", this.ref).status()).isEqualTo(500);
		shop.losing().answer.set(Answers.DONE);
		await().untilAsserted(() -> assertThat(shop.post("/pay-or-find", this.ref).text()).isEqualTo("found"));
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	@EachManager
	void failureThatIsRememberedIsKept(Manager manager) {
		Shop shop = shop(manager, Answers.LOST);
		assertThat(shop.post("/pay-or-remember", this.ref).status()).isEqualTo(500);
		shop.losing().answer.set(Answers.DONE);
		Answer second = shop.post("/pay-or-remember", this.ref);
		assertThat(second.status()).isEqualTo(500);
		assertThat(second.replayed()).isTrue();
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(Manager.class)
	void handlerWhoseCommitIsRejectedIsFree(Manager manager) {
		for (String path : new String[] { "/pay", "/pay-by-task", "/pay-by-future" }) {
			Shop shop = shop(manager, Answers.REJECTED);
			String own = this.ref + path;
			assertThat(shop.post(path, own).status()).isGreaterThanOrEqualTo(500);
			shop.losing().answer.set(Answers.DONE);
			assertThat(shop.post(path, own).text()).isEqualTo("paid");
			assertThat(shop.rows(own)).isEqualTo(1);
		}
	}

	/** The guard does not see an exception that the handler catches. */
	@EachManager
	void handlerThatHidesARejectedCommitKeepsItsKey(Manager manager) {
		Shop shop = shop(manager, Answers.REJECTED);
		assertThat(shop.post("/pay-or-503", this.ref).status()).isEqualTo(503);
		shop.losing().answer.set(Answers.DONE);
		assertThat(shop.post("/pay-or-503", this.ref).text()).contains("in-progress");
		assertThat(shop.rows(this.ref)).isZero();
	}

	/** A timeout proves nothing. */
	@EachManager
	void handlerWhoseLastStatementTakesTooLongKeepsItsKey(Manager manager) {
		Shop shop = shop(manager, Answers.TIMED_OUT);
		assertThat(shop.post("/pay", this.ref).status()).isEqualTo(500);
		shop.losing().answer.set(Answers.DONE);
		assertThat(shop.post("/pay", this.ref).text()).contains("in-progress");
	}

	/** What is not flushed is not committed. */
	@ParameterizedTest
	@EnumSource(Manager.class)
	void handlerWhoseTransactionIsLostBeforeTheCommitIsFree(Manager manager) {
		Shop shop = shop(manager, Answers.DONE);
		shop.payments().work = () -> {
			throw new IllegalStateException("It fails on purpose");
		};
		shop.losing().answer.set(Answers.LOST_BEFORE);
		assertThat(shop.post("/pay", this.ref).status()).isEqualTo(500);
		shop.losing().answer.set(Answers.DONE);
		assertThat(shop.post("/pay", this.ref).text()).isEqualTo("paid");
	}

	@EachManager
	void callInATransactionWhoseCommitIsNotAnsweredKeepsItsKey(Manager manager) {
		Shop shop = shop(manager, Answers.LOST);
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> shop.transaction(this.ref));
		shop.losing().answer.set(Answers.DONE);
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> shop.transaction(this.ref));
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	/** The exception of the commit is not visible before the end of the transaction. */
	@EachManager
	void callInATransactionWhoseCommitIsRejectedKeepsItsKey(Manager manager) {
		Shop shop = shop(manager, Answers.REJECTED);
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> shop.transaction(this.ref));
		shop.losing().answer.set(Answers.DONE);
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> shop.transaction(this.ref));
		assertThat(shop.rows(this.ref)).isZero();
	}

	@EachManager
	void joinedCallWhoseCommitIsNotAnsweredIsDone(Manager manager) {
		Shop shop = shop(manager, Answers.LOST);
		assertThat(shop.post("/pay-joined", this.ref).status()).isEqualTo(500);
		shop.losing().answer.set(Answers.DONE);
		assertThat(shop.post("/pay-joined", this.ref).replayed()).isTrue();
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	private static Shop shop(Manager manager, Answers answer) {
		ConfigurableApplicationContext application = applications.computeIfAbsent(manager, LostCommitTests::start);
		Shop shop = new Shop(application);
		shop.payments().work = () -> {
		};
		shop.losing().answer.set(answer);
		return shop;
	}

	private static ConfigurableApplicationContext start(Manager manager) {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		Losing losing = new Losing(database);
		ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
			.initializers((context) -> {
				GenericApplicationContext beans = (GenericApplicationContext) context;
				beans.registerBean("dataSource", Losing.class, () -> losing);
				if (manager.of != null) {
					beans.registerBean("transactionManager", PlatformTransactionManager.class,
							() -> declared(manager.of.apply(losing), beans));
				}
			})
			.run("--spring.main.web-application-type=servlet", "--server.port=0", "--spring.autoconfigure.exclude=",
					"--spring.jpa.open-in-view=false", "--idempotency.store=jdbc",
					"--idempotency.jdbc.initialize-schema=always");
		assertThat(application.getBean(PlatformTransactionManager.class)).isInstanceOf(manager.type);
		application.getBean(JdbcTemplate.class).execute("create table payment (ref varchar(100))");
		return application;
	}

	/** An application adds the listener to the managers that it declares. */
	private static PlatformTransactionManager declared(AbstractPlatformTransactionManager manager,
			GenericApplicationContext beans) {
		beans.getBeanProvider(TransactionExecutionListener.class).orderedStream().forEach(manager::addListener);
		return manager;
	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@ParameterizedTest
	@EnumSource(Manager.class)
	@interface EachManager {

	}

	/** Whose transactions they are. */
	enum Manager {

		JPA(JpaTransactionManager.class, null), JDBC(JdbcTransactionManager.class, JdbcTransactionManager::new),

		DATA_SOURCE(DataSourceTransactionManager.class, DataSourceTransactionManager::new);

		private final Class<?> type;

		private final @Nullable Function<DataSource, AbstractPlatformTransactionManager> of;

		Manager(Class<?> type, @Nullable Function<DataSource, AbstractPlatformTransactionManager> of) {
			this.type = type;
			this.of = of;
		}

	}

	/** How the database answers a commit. */
	enum Answers {

		DONE, REJECTED, TIMED_OUT, LOST, LOST_AND_CONNECTED_ANEW, LOST_IN_TRANSACTION, LOST_WITHOUT_STATE,

		/** The connection is lost before there is a commit. */
		LOST_BEFORE

	}

	/** Commits as it is told, in transactions that have written a payment. */
	static class Losing extends DelegatingDataSource {

		final AtomicReference<Answers> answer = new AtomicReference<>(Answers.DONE);

		Losing(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection target = super.getConnection();
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, arguments) -> {
						if (method.getName().equals("commit") && !target.getAutoCommit()) {
							commit(target);
						}
						else if (method.getName().equals("rollback") && this.answer.get() == Answers.LOST_BEFORE) {
							target.rollback();
							target.close();
							throw new SQLException("The connection is lost", "08006");
						}
						else {
							return call(target, method, arguments);
						}
						return null;
					});
		}

		private static @Nullable Object call(Connection target, Method method, Object @Nullable [] arguments)
				throws Throwable {
			try {
				return method.invoke(target, arguments);
			}
			catch (InvocationTargetException ex) {
				throw ex.getCause();
			}
		}

		private void commit(Connection target) throws SQLException {
			switch (this.answer.get()) {
				case DONE, LOST_BEFORE -> target.commit();
				case REJECTED -> {
					target.rollback();
					throw new SQLException("A constraint says no", "23505");
				}
				case TIMED_OUT -> {
					target.rollback();
					throw new SQLTimeoutException("A statement of the flush took too long");
				}
				case LOST -> {
					target.commit();
					target.close();
					throw new SQLException("The server has gone", "08006");
				}
				case LOST_AND_CONNECTED_ANEW -> {
					target.commit();
					throw new SQLException("Nobody knows", "08007");
				}
				case LOST_IN_TRANSACTION -> {
					target.commit();
					throw new SQLException("The transaction was lost during a COMMIT", "25S03");
				}
				case LOST_WITHOUT_STATE -> {
					target.commit();
					throw new SQLNonTransientConnectionException("Connected anew");
				}
			}
		}

	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Payments.class, Controller.class, Guarded.class })
	static class Application {

		@Bean
		JdbcTemplate jdbcTemplate(DataSource dataSource) {
			return new JdbcTemplate(dataSource);
		}

		/** Advice around the guard, when the database is back. */
		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor retries(ObjectProvider<Losing> database) {
			NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor((MethodInterceptor) (call) -> {
				try {
					return ((ProxyMethodInvocation) call).invocableClone().proceed();
				}
				catch (DataAccessException | TransactionException ex) {
					database.getObject().answer.set(Answers.DONE);
					return call.proceed();
				}
			});
			advisor.setMappedName("payAndRetry");
			advisor.setClassFilter(Controller.class::isAssignableFrom);
			advisor.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return advisor;
		}

	}

	static class Payments {

		volatile Runnable work = () -> {
		};

		private final JdbcTemplate jdbc;

		Payments(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		public String pay(String ref) {
			this.jdbc.update("insert into payment values (?)", ref);
			Runnable once = this.work;
			this.work = () -> {
			};
			once.run();
			return "paid";
		}

		@Transactional
		public void fail() {
			throw new IllegalArgumentException("It cannot be written down");
		}

	}

	static class Guarded {

		private final Payments payments;

		Guarded(Payments payments) {
			this.payments = payments;
		}

		@Idempotent(key = "#ref")
		public String pay(String ref) {
			return this.payments.pay(ref);
		}

	}

	@RestController
	static class Controller {

		private final Payments payments;

		private final JdbcTemplate jdbc;

		Controller(Payments payments, JdbcTemplate jdbc) {
			this.payments = payments;
			this.jdbc = jdbc;
		}

		@Idempotent
		@PostMapping("/pay")
		String pay(@RequestParam String ref) {
			return this.payments.pay(ref);
		}

		@Idempotent
		@PostMapping("/pay-and-retry")
		String payAndRetry(@RequestParam String ref) {
			return this.payments.pay(ref);
		}

		@Idempotent
		@PostMapping("/pay-by-task")
		Callable<String> payByTask(@RequestParam String ref) {
			return () -> this.payments.pay(ref);
		}

		@Idempotent
		@PostMapping("/pay-by-future")
		CompletableFuture<String> payByFuture(@RequestParam String ref) {
			try {
				return CompletableFuture.completedFuture(this.payments.pay(ref));
			}
			catch (DataAccessException | TransactionException ex) {
				return CompletableFuture.failedFuture(ex);
			}
		}

		@Idempotent
		@PostMapping("/pay-or-503")
		ResponseEntity<String> payOr503(@RequestParam String ref) {
			try {
				return ResponseEntity.ok(this.payments.pay(ref));
			}
			catch (DataAccessException | TransactionException ex) {
				return ResponseEntity.status(503).body("later");
			}
		}

		@Idempotent
		@PostMapping("/pay-and-fail-again")
		String payAndFailAgain(@RequestParam String ref) {
			try {
				return this.payments.pay(ref);
			}
			catch (DataAccessException | TransactionException ex) {
				this.payments.fail();
				throw ex;
			}
		}

		@Idempotent(lease = "2s", recover = "find")
		@PostMapping("/pay-or-find")
		String payOrFind(@RequestParam String ref) {
			return this.payments.pay(ref);
		}

		@Nullable String find(String ref) {
			return this.jdbc.queryForObject("select count(*) from payment where ref = ?", Integer.class, ref) > 0
					? "found" : null;
		}

		@Idempotent(onFailure = FailureMode.REMEMBER)
		@PostMapping("/pay-or-remember")
		String payOrRemember(@RequestParam String ref) {
			return this.payments.pay(ref);
		}

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/pay-joined")
		String payJoined(@RequestParam String ref) {
			return this.payments.pay(ref);
		}

	}

	private record Answer(int status, String text, boolean replayed) {
	}

	private record Shop(ConfigurableApplicationContext application) {

		Losing losing() {
			return this.application.getBean(Losing.class);
		}

		Payments payments() {
			return AopTestUtils.getTargetObject(this.application.getBean(Payments.class));
		}

		Answer post(String path, String ref) {
			String port = this.application.getEnvironment().getProperty("local.server.port");
			HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path + "?ref=" + ref))
				.header("Idempotency-Key", ref)
				.POST(HttpRequest.BodyPublishers.noBody())
				.build();
			HttpResponse<String> answer = client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).join();
			return new Answer(answer.statusCode(), answer.body(),
					answer.headers().firstValue("Idempotent-Replayed").isPresent());
		}

		String transaction(String ref) {
			return new TransactionTemplate(this.application.getBean(PlatformTransactionManager.class))
				.execute((status) -> this.application.getBean(Guarded.class).pay(ref));
		}

		Integer rows(String ref) {
			return this.application.getBean(JdbcTemplate.class)
				.queryForObject("select count(*) from payment where ref = ?", Integer.class, ref);
		}

	}

}
