package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/** Which of several connections keeps the records: it is asked at start-up. */
class RedisStoreSelectionTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class));

	@Test
	void theOnlyConnectionIsUsed() {
		this.runner.withUserConfiguration(Sessions.class).run((context) -> expectUsed(context, "sessions"));
	}

	@Test
	void thePrimaryConnectionIsUsed() {
		this.runner.withUserConfiguration(Sessions.class, PrimaryCache.class)
			.run((context) -> expectUsed(context, "cache", "sessions"));
	}

	@Test
	void theMarkedConnectionIsUsedBeforeThePrimaryOne() {
		this.runner.withUserConfiguration(Sessions.class, PrimaryCache.class, MarkedRecords.class)
			.run((context) -> expectUsed(context, "records", "sessions", "cache"));
	}

	@Test
	void theMarkedConnectionIsUsedWhereNothingElseMayBeInjectedUnmarked() {
		this.runner.withUserConfiguration(Sessions.class, MarkedAndNoDefault.class)
			.run((context) -> expectUsed(context, "records", "sessions"));
	}

	@Test
	void severalConnectionsWithoutAMarkFailTheStartAndAreNamed() {
		this.runner.withUserConfiguration(Sessions.class, Locks.class).run(RedisStoreSelectionTests::expectQuestion);
	}

	@Test
	void severalMarksFailTheStartAndAreNamedAlsoWhereOneConnectionIsPrimary() {
		this.runner.withUserConfiguration(PrimaryCache.class, MarkedRecords.class, MarkedArchive.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining("[archive, cache, records]"));
	}

	private static void expectUsed(AssertableApplicationContext context, String used, String... unused) {
		assertThat(context).hasSingleBean(RedisIdempotencyStore.class);
		verify(context.getBean(used, RedisConnectionFactory.class), atLeastOnce()).getConnection();
		for (String name : unused) {
			verify(context.getBean(name, RedisConnectionFactory.class), never()).getConnection();
		}
	}

	private static void expectQuestion(AssertableApplicationContext context) {
		assertThat(context).getFailure()
			.rootCause()
			.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (ex) -> {
				assertThat(ex).hasMessageContaining("RedisConnectionFactory").hasMessageContaining("[locks, sessions]");
				assertThat(ex.action()).contains("@IdempotencyConnectionFactory").contains("@Primary");
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class Sessions {

		@Bean
		RedisConnectionFactory sessions() {
			return mock(RedisConnectionFactory.class);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Locks {

		@Bean
		RedisConnectionFactory locks() {
			return mock(RedisConnectionFactory.class);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryCache {

		@Bean
		@Primary
		RedisConnectionFactory cache() {
			return mock(RedisConnectionFactory.class);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MarkedRecords {

		@Bean
		@IdempotencyConnectionFactory
		RedisConnectionFactory records() {
			return mock(RedisConnectionFactory.class);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MarkedArchive {

		@Bean
		@IdempotencyConnectionFactory
		RedisConnectionFactory archive() {
			return mock(RedisConnectionFactory.class);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MarkedAndNoDefault {

		@Bean(defaultCandidate = false)
		@IdempotencyConnectionFactory
		RedisConnectionFactory records() {
			return mock(RedisConnectionFactory.class);
		}

	}

}
