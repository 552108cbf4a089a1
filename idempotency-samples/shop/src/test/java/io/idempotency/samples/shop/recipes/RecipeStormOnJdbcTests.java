package io.idempotency.samples.shop.recipes;

import io.idempotency.it.servers.StoreAlone;
import org.springframework.test.context.ActiveProfiles;

/** The same storm; records and orders share a database and its connections. */
@StoreAlone
@ActiveProfiles("jdbc")
class RecipeStormOnJdbcTests extends RecipeStormTests {

}
