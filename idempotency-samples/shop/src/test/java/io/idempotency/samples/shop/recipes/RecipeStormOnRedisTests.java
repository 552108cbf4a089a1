package io.idempotency.samples.shop.recipes;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.samples.shop.EmbeddedRedis;

import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.ContextConfiguration;

/** The same storm with the records in Redis. */
@ActiveProfiles("redis")
@ContextConfiguration(initializers = EmbeddedRedis.class)
@Requires(Backend.REDIS)
class RecipeStormOnRedisTests extends RecipeStormTests {

}
