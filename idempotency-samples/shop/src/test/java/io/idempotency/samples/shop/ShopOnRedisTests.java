package io.idempotency.samples.shop;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** The same shop with its records in Redis: its clients see no difference. */
@ActiveProfiles("redis")
@ContextConfiguration(initializers = EmbeddedRedis.class)
@DisabledIfSystemProperty(named = "idempotency.tests.skip", matches = "(.*,)?redis(,.*)?",
		disabledReason = "-Didempotency.tests.skip names redis")
class ShopOnRedisTests extends ShopIdempotencyTests {

	@Test
	void recordsAreInRedis(@Autowired IdempotencyStore store) {
		assertThat(store).isInstanceOf(RedisIdempotencyStore.class);
	}

}
