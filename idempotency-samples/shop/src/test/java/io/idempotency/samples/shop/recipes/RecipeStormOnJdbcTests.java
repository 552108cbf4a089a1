package io.idempotency.samples.shop.recipes;

import org.springframework.test.context.ActiveProfiles;

/** The same storm; records and orders share a database and its connections. */
@ActiveProfiles("jdbc")
class RecipeStormOnJdbcTests extends RecipeStormTests {

}
