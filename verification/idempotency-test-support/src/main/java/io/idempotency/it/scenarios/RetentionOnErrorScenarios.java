package io.idempotency.it.scenarios;

import java.time.Duration;

import io.idempotency.it.client.Answer;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.test.MutableClock;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/** Answers of errors are kept for one hour. */
public interface RetentionOnErrorScenarios extends Scenario {

	MutableClock clock();

	@Test
	default void rejectionIsKeptSoLongAndASuccessLonger() {
		String thrown = "/answers/response-status-exception";
		Answer rejected = client().post("/failures/status/422", key());
		Answer created = client().post("/answers/created", key());
		assertThat(rejected.status()).isEqualTo(422);
		assertThat(client().post(thrown, key()).status()).isEqualTo(409);
		assertThat(created.status()).isEqualTo(201);
		clock().advance(Duration.ofMinutes(59));
		assertThat(client().post("/failures/status/422", key()).body()).isEqualTo(rejected.body());
		assertThat(client().post(thrown, key()).replayed()).isTrue();
		clock().advance(Duration.ofMinutes(2));
		assertThat(client().post("/failures/status/422", key()).replayed()).isFalse();
		assertThat(client().post(thrown, key()).replayed()).isFalse();
		assertThat(client().post("/answers/created", key()).body()).isEqualTo(created.body());
	}

	/** A store whose time a test tells. */
	@Configuration(proxyBeanMethods = false)
	class TimedStore {

		@Bean
		MutableClock clock() {
			return new MutableClock();
		}

		@Bean
		MemoryIdempotencyStore timedStore(MutableClock clock) {
			return new MemoryIdempotencyStore(10_000_000, clock);
		}

	}

}
