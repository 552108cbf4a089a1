package io.idempotency.samples.shop.recipes;

import io.idempotency.samples.shop.EmbeddedRedis;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.ContextConfiguration;

/** The same storm with the records in Redis. */
@ActiveProfiles("redis")
@ContextConfiguration(initializers = EmbeddedRedis.class)
@DisabledIfSystemProperty(named = "idempotency.tests.skip", matches = "(.*,)?redis(,.*)?",
		disabledReason = "-Didempotency.tests.skip names redis")
class RecipeStormOnRedisTests extends RecipeStormTests {

}
