package io.idempotency.autoconfigure;

import java.io.InputStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** What a developer reads who made a mistake: what is wrong, where, and what to do. */
@ExtendWith(OutputCaptureExtension.class)
class StartupFailureTests {

	@ParameterizedTest
	@MethodSource("wrongAnnotations")
	void wrongAnnotationIsReportedWithItsMethodAndTheCure(Class<?> bean, String description, String action,
			CapturedOutput output) {
		assertFailsToStart(Map.of(), bean);
		assertThat(report(output)).contains("Description:")
			.contains("@Idempotent on")
			.contains(bean.getSimpleName() + "#handle")
			.contains(description)
			.contains("Action:")
			.contains(action)
			.doesNotContain("\tat ");
	}

	@ParameterizedTest
	@MethodSource("wrongAnnotations")
	void wrongAnnotationIsReportedAlsoWhereBeansAreMadeLazily(Class<?> bean, String description, String action,
			CapturedOutput output) {
		assertFailsToStart(Map.of("spring.main.lazy-initialization", "true"), bean);
		assertThat(report(output)).contains(bean.getSimpleName() + "#handle").contains(description).contains(action);
	}

	@Test
	void passwordThatTheDatabaseRejectsIsReported(CapturedOutput output) throws SQLException {
		try (Connection database = DriverManager.getConnection(WrongPassword.URL, "sa", "right")) {
			assertThat(database.isValid(1)).isTrue();
			assertFailsToStart(Map.of("idempotency.store", "jdbc"), WrongPassword.class);
		}
		assertThat(report(output)).contains("The database rejected the login of the application: ")
			.contains("spring.datasource.password")
			.doesNotContain("\tat ");
	}

	static class WrongPassword {

		static final String URL = "jdbc:h2:mem:rejecting";

		@Bean
		DataSource dataSource() {
			return new DriverManagerDataSource(URL, "sa", "wrong");
		}

	}

	@Test
	void valueAndKeyThatDifferAreReportedWithTheClass(CapturedOutput output) {
		assertFailsToStart(Map.of(), ValueAndKey.class);
		assertThat(report(output)).contains(ValueAndKey.class.getName())
			.contains("Remove value or key")
			.doesNotContain("\tat ");
	}

	@Idempotent(value = "#id", key = "#other")
	static class ValueAndKey {

		public void handle(String id) {
		}

	}

	static Stream<Arguments> wrongAnnotations() {
		return Stream.of(
				Arguments.of(TwoSources.class, "more than one of key, header and body", "Keep only the attribute"),
				Arguments.of(NoSource.class, "it has no key source", "Set key"),
				Arguments.of(PrivateMethod.class, "a proxy cannot guard a private method", "non-private"),
				Arguments.of(FinalMethod.class, "a proxy cannot guard a final method", "Remove final"),
				Arguments.of(StaticMethod.class, "a proxy cannot guard a static method", "non-private instance method"),
				Arguments.of(BadSpel.class, "#id +* (", "key"),
				Arguments.of(ZeroLease.class, "its lease is '0s'", "Write a duration such as"),
				Arguments.of(UnknownRecover.class, "its recover method 'lookUp' does not exist",
						"Add a method 'lookUp'"),
				Arguments.of(UnknownStore.class, "its store 'ledger' is not a bean",
						"Use one of the stores: idempotencyStore"),
				Arguments.of(JoinWithoutJdbc.class, "transaction = JOIN", "Use the JDBC store"), Arguments
					.of(UnsupportedResult.class, "its result cannot be stored", "Return a type that can be stored"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			idempotency.lease                    | 0s    | a duration from 1ms to 36500d
			idempotency.http.release-on[0]       | often | an error status such as 429
			idempotency.http.replayed-header     | a b   | the name of an HTTP header
			idempotency.memory.max-size          | 1B    | large enough for one record
			idempotency.token.path               | token | starts with a slash
			""")
	void wrongValueIsReportedWithItsProperty(String name, String value, String reason, CapturedOutput output) {
		assertFailsToStart(Map.of(name, value), Payments.class);
		assertThat(report(output)).contains("Property " + name + " with value '" + value + "'")
			.contains(reason)
			.contains("Change the value of " + name)
			.doesNotContain("\tat ");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			idempotency.lease          | 0s    | a duration from 1ms to 36500d
			idempotency.store          | oracle| StoreType
			""")
	void wrongValueIsReportedAlsoWhereBeansAreMadeLazily(String name, String value, String reason,
			CapturedOutput output) {
		assertFailsToStart(Map.of(name, value, "spring.main.lazy-initialization", "true"), Payments.class);
		assertThat(report(output)).contains(name).contains(value).contains(reason);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			idempotency.store            | oracle  | REDIS
			idempotency.conflict         | default | WAIT
			idempotency.conflict         | skip    | REJECT or WAIT
			idempotency.on-failure       | default | REMEMBER
			idempotency.on-store-failure | ignore  | PROCEED
			idempotency.scope            | tenant  | GLOBAL
			idempotency.fingerprint      | xml     | RAW
			idempotency.advisor-order    | first   | to int
			""")
	void unknownValueIsReportedWithItsPropertyAndTheKnownOnes(String name, String value, String known,
			CapturedOutput output) {
		assertFailsToStart(Map.of(name, value), Payments.class);
		assertThat(report(output)).contains(name).contains(value).contains(known).doesNotContain("\tat ");
	}

	@Test
	void storeThatCannotBeHadIsReportedWithTheWayOut(CapturedOutput output) {
		assertFailsToStart(Map.of("idempotency.store", "redis"), Payments.class);
		assertThat(report(output)).contains("idempotency.store is 'redis'")
			.contains("Add spring-boot-starter-data-redis")
			.contains("set idempotency.store to 'memory'");
	}

	private static String report(CapturedOutput output) {
		String text = output.toString();
		int start = text.indexOf("APPLICATION FAILED TO START");
		assertThat(start).as(text).isPositive();
		return text.substring(start);
	}

	private static void assertFailsToStart(Map<String, Object> properties, Class<?> bean) {
		SpringApplication application = new SpringApplicationBuilder(Application.class, bean)
			.web(WebApplicationType.NONE)
			.properties(properties)
			.build();
		application.setRegisterShutdownHook(false);
		assertThatException().isThrownBy(application::run);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(IdempotencyAutoConfiguration.class)
	static class Application {

	}

	static class TwoSources {

		@Idempotent(key = "#id", header = "X-Id")
		void handle(String id) {
		}

	}

	static class NoSource {

		@Idempotent
		void handle(String id) {
		}

	}

	static class PrivateMethod {

		@Idempotent("#id")
		private void handle(String id) {
		}

	}

	static class FinalMethod {

		@Idempotent("#id")
		final void handle(String id) {
		}

	}

	static class StaticMethod {

		@Idempotent("#id")
		static void handle(String id) {
		}

	}

	static class BadSpel {

		@Idempotent("#id +* (")
		void handle(String id) {
		}

	}

	static class ZeroLease {

		@Idempotent(key = "#id", lease = "0s")
		void handle(String id) {
		}

	}

	static class UnknownRecover {

		@Idempotent(key = "#id", recover = "lookUp")
		String handle(String id) {
			return id;
		}

	}

	static class UnknownStore {

		@Idempotent(key = "#id", store = "ledger")
		void handle(String id) {
		}

	}

	static class JoinWithoutJdbc {

		@Idempotent(key = "#id", transaction = TransactionMode.JOIN)
		void handle(String id) {
		}

	}

	static class UnsupportedResult {

		@Idempotent("#id")
		InputStream handle(String id) {
			return InputStream.nullInputStream();
		}

	}

}
