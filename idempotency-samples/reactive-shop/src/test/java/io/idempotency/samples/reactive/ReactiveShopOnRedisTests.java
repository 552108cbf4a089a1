package io.idempotency.samples.reactive;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** The same shop with its records in Redis: its clients see no difference. */
@ActiveProfiles("redis")
@ContextConfiguration(initializers = RedisServer.OfAnApplication.class)
@Requires(Backend.REDIS)
class ReactiveShopOnRedisTests extends ReactiveShopTests {

	@Test
	void recordsAreInRedis(@Autowired IdempotencyStore store) {
		assertThat(store).isInstanceOf(RedisIdempotencyStore.class);
	}

}
