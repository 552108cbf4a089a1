package io.idempotency.it.http;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

@OnRedis
class KeptAnswersOnRedisTests extends KeptAnswersOnTomcatTests {

	@Test
	void recordsAreInRedis(@Autowired IdempotencyStore store) {
		assertThat(store).isInstanceOf(RedisIdempotencyStore.class);
	}

}
