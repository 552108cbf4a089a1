package io.idempotency.autoconfigure;

import java.nio.file.Path;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class StoreSelectionTests {

	private static final String ONE_JVM = "for one JVM only";

	/** Nobody listens there, whatever runs on this machine. */
	private static final String NO_SERVER = "spring.data.redis.port=1";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class));

	@Test
	void autoWithoutAnyConnectionIsMemoryAndSaysThatItServesOneJvm(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThat(context).getBean(IdempotencyStore.class).isInstanceOf(MemoryIdempotencyStore.class);
			assertThat(output).contains("WARN").contains(ONE_JVM);
		});
	}

	@Test
	void memoryThatWasAskedForGivesNoWarning(CapturedOutput output) {
		this.runner.withPropertyValues("idempotency.store=memory").run((context) -> {
			assertThat(context).getBean(IdempotencyStore.class).isInstanceOf(MemoryIdempotencyStore.class);
			assertThat(output).doesNotContain(ONE_JVM);
		});
	}

	@Test
	void autoWithADataSourceIsJdbcAndSaysSo(CapturedOutput output) {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class)).run((context) -> {
			assertThat(context).hasSingleBean(DataSource.class)
				.getBean(IdempotencyStore.class)
				.isInstanceOf(JdbcIdempotencyStore.class);
			assertThat(output).containsOnlyOnce("Idempotency records are stored in the database");
		});
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			jdbc:h2:file:%s/shared | jdbc  | ''                            | true
			jdbc:h2:file:%s/shared | jdbc  | spring.application.name=shop  | false
			jdbc:h2:file:%s/shared | jdbc  | idempotency.namespace=        | false
			jdbc:h2:mem:alone      | jdbc  | ''                            | false
			''                     | redis | ''                            | true
			''                     | redis | idempotency.namespace=shop    | false
			""", delimiter = '|')
	void sharedStoreOfAnApplicationWithoutANameIsAWarning(String url, String store, String name, boolean warned,
			@TempDir Path directory, CapturedOutput output) {
		this.runner
			.withConfiguration(AutoConfigurations
				.of(url.isEmpty() ? RedisAutoConfiguration.class : DataSourceAutoConfiguration.class))
			.withPropertyValues(NO_SERVER, "idempotency.jdbc.initialize-schema=always", "idempotency.store=" + store,
					"spring.datasource.url=" + url.formatted(directory), name.isEmpty() ? "unused=1" : name)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				String line = "Neither spring.application.name nor idempotency.namespace is set";
				assertThat(output.toString().contains(line)).isEqualTo(warned);
			});
	}

	@Test
	void memoryThatIsLargerThanTheHeapIsAWarning(CapturedOutput output) {
		String larger = Runtime.getRuntime().maxMemory() / 1024 / 1024 + 1 + "MB";
		this.runner.withPropertyValues("idempotency.store=memory", "idempotency.memory.max-size=" + larger)
			.run((context) -> assertThat(output).contains("WARN")
				.contains("idempotency.memory.max-size is " + larger.replace("MB", " MB")));
	}

	@Test
	void storeThatWasAskedForIsNoNews(CapturedOutput output) {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("idempotency.store=jdbc")
			.run((context) -> assertThat(output).doesNotContain("Idempotency records are stored"));
	}

	@Test
	void autoWithARedisConnectionIsRedisAlsoWhereTheServerIsDown(CapturedOutput output) {
		this.runner.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class))
			.withPropertyValues(NO_SERVER)
			.run((context) -> {
				assertThat(context).hasSingleBean(IdempotencyStore.class).hasSingleBean(RedisIdempotencyStore.class);
				assertThat(output).contains("WARN").contains("Redis is unavailable at startup").doesNotContain(ONE_JVM);
				assertThat(output).containsOnlyOnce("Idempotency records are stored in Redis");
			});
	}

	@Test
	void autoWithARedisConnectionAndADataSourceFailsTheStartAndAsks() {
		this.runner
			.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.main.lazy-initialization=true")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("Redis").hasMessageContaining("a database");
					assertThat(ex.action()).contains("idempotency.store").contains("'redis'").contains("'jdbc'");
				}));
	}

	@Test
	void redisThatWasAskedForIsTakenBesideADataSource() {
		this.runner
			.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, DataSourceAutoConfiguration.class))
			.withPropertyValues("idempotency.store=redis", NO_SERVER)
			.run((context) -> assertThat(context).hasSingleBean(DataSource.class)
				.getBean(IdempotencyStore.class)
				.isInstanceOf(RedisIdempotencyStore.class));
	}

	@Test
	void memoryThatWasAskedForIsTakenBesideBoth() {
		this.runner
			.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, DataSourceAutoConfiguration.class))
			.withPropertyValues("idempotency.store=memory")
			.run((context) -> assertThat(context).hasSingleBean(RedisConnectionFactory.class)
				.getBean(IdempotencyStore.class)
				.isInstanceOf(MemoryIdempotencyStore.class));
	}

	@Test
	void storeOfTheApplicationIsTakenBesideBoth() {
		this.runner
			.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, DataSourceAutoConfiguration.class))
			.withBean("ledger", RecordingStore.class)
			.run((context) -> assertThat(context).hasSingleBean(IdempotencyStore.class)
				.hasSingleBean(RecordingStore.class));
	}

	@Test
	void redisWithoutAConnectionFailsTheStartAndSaysHowToGetOne() {
		this.runner.withPropertyValues("idempotency.store=redis", "spring.main.lazy-initialization=true")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("idempotency.store is 'redis'")
						.hasMessageContaining("RedisConnectionFactory");
					assertThat(ex.action()).contains("spring-boot-starter-data-redis").contains("'memory'");
				}));
	}

	@Test
	void jdbcThatWasAskedForWithoutADataSourceFailsTheStartAlsoWhereBeansAreLazy() {
		this.runner.withPropertyValues("idempotency.store=JDBC", "spring.main.lazy-initialization=true")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageStartingWith("idempotency.store is 'jdbc'"));
	}

	@Test
	void sizeWithoutRoomForOneRecordFailsTheStart() {
		this.runner.withPropertyValues("idempotency.memory.max-size=1B")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class,
						(ex) -> assertThat(ex.getName()).isEqualTo("idempotency.memory.max-size")));
	}

	@Test
	void whenTheApplicationHasAStoreThenOursBacksOff(CapturedOutput output) {
		this.runner.withBean("ledger", RecordingStore.class).withBean(Payments.class).run((context) -> {
			assertThat(context).hasSingleBean(IdempotencyStore.class).hasSingleBean(RecordingStore.class);
			context.getBean(Payments.class).pay("7");
			assertThat(context.getBean(RecordingStore.class).claims).hasSize(1);
			assertThat(output).doesNotContain(ONE_JVM);
		});
	}

	@Test
	void whenTheApplicationHasAStoreThenThePropertyIsNotAsked() {
		this.runner.withBean("ledger", RecordingStore.class)
			.withPropertyValues("idempotency.store=redis")
			.run((context) -> assertThat(context).hasSingleBean(RecordingStore.class));
	}

	@Test
	void ofSeveralStoresThePrimaryOneIsTheDefault() {
		this.runner.withBean("idempotencyStore", RecordingStore.class)
			.withUserConfiguration(PrimaryStore.class)
			.withBean(Payments.class)
			.run((context) -> {
				context.getBean(Payments.class).pay("7");
				assertThat(context.getBean("primary", RecordingStore.class).claims).hasSize(1);
				assertThat(context.getBean("idempotencyStore", RecordingStore.class).claims).isEmpty();
			});
	}

	@Test
	void ofSeveralStoresTheOneNamedIdempotencyStoreIsTheDefault() {
		this.runner.withBean("idempotencyStore", RecordingStore.class)
			.withBean("other", RecordingStore.class)
			.withBean(Payments.class)
			.run((context) -> {
				context.getBean(Payments.class).pay("7");
				assertThat(context.getBean("idempotencyStore", RecordingStore.class).claims).hasSize(1);
				assertThat(context.getBean("other", RecordingStore.class).claims).isEmpty();
			});
	}

	@Test
	void ofSeveralStoresWithoutADefaultTheStartFailsAndNamesThem() {
		this.runner.withBean("orders", RecordingStore.class)
			.withBean("events", RecordingStore.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("[events, orders]");
					assertThat(ex.action()).contains("@Primary").contains("idempotencyStore");
				}));
	}

	@Test
	void annotationChoosesAStoreByItsName() {
		this.runner.withBean("idempotencyStore", RecordingStore.class)
			.withBean("other", RecordingStore.class)
			.withBean(Events.class)
			.run((context) -> {
				context.getBean(Events.class).handle("7");
				assertThat(context.getBean("other", RecordingStore.class).claims).hasSize(1);
				assertThat(context.getBean("idempotencyStore", RecordingStore.class).claims).isEmpty();
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryStore {

		@Bean
		@Primary
		RecordingStore primary() {
			return new RecordingStore();
		}

	}

	static class Events {

		@Idempotent(key = "#id", store = "other")
		void handle(String id) {
		}

	}

}
