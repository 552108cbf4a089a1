package io.idempotency.samples.shop.recipes;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;

import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.ContextConfiguration;

/** The same storm, and a smaller one, with the records in Redis. */
@Nightly
@StoreAlone
@ActiveProfiles("redis")
@ContextConfiguration(initializers = RedisServer.OfAnApplication.class)
@Requires(Backend.REDIS)
class RecipeStormOnRedisTests extends RecipeStormTests {

	@Override
	int requests() {
		return 1000;
	}

}
