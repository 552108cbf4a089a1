package io.idempotency.it.http;

import java.time.Duration;

import io.idempotency.it.client.Answer;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.test.MutableClock;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@Import(RetentionOnErrorOnTomcatTests.TimedStore.class)
@TestPropertySource(properties = "idempotency.http.retention-on-error=1h")
class RetentionOnErrorOnTomcatTests extends OnTomcat {

	@Autowired
	MutableClock clock;

	@Test
	void refusalIsKeptSoLongAndASuccessLonger() {
		Answer refused = this.client.post("/failures/status/422", this.key);
		Answer thrown = this.client.post("/answers/send-error", this.key);
		Answer created = this.client.post("/answers/created", this.key);
		assertThat(refused.status()).isEqualTo(422);
		assertThat(thrown.status()).isEqualTo(409);
		assertThat(created.status()).isEqualTo(201);
		this.clock.advance(Duration.ofMinutes(59));
		assertThat(this.client.post("/failures/status/422", this.key).body()).isEqualTo(refused.body());
		assertThat(this.client.post("/answers/send-error", this.key).replayed()).isTrue();
		this.clock.advance(Duration.ofMinutes(2));
		assertThat(this.client.post("/failures/status/422", this.key).replayed()).isFalse();
		assertThat(this.client.post("/answers/send-error", this.key).replayed()).isFalse();
		assertThat(this.client.post("/answers/created", this.key).body()).isEqualTo(created.body());
	}

	@Configuration(proxyBeanMethods = false)
	static class TimedStore {

		@Bean
		MutableClock clock() {
			return new MutableClock();
		}

		@Bean
		IdempotencyStore timedStore(MutableClock clock) {
			return new MemoryIdempotencyStore(10_000_000, clock);
		}

	}

}
