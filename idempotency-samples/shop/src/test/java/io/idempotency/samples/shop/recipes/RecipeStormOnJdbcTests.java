package io.idempotency.samples.shop.recipes;

import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.StoreAlone;
import org.springframework.test.context.ActiveProfiles;

/**
 * The same storm, and a smaller one; records and orders share a database and its
 * connections.
 */
@Nightly
@StoreAlone
@ActiveProfiles("jdbc")
class RecipeStormOnJdbcTests extends RecipeStormTests {

	@Override
	int requests() {
		return 1000;
	}

}
