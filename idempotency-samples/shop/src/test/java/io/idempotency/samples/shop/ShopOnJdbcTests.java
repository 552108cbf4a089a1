package io.idempotency.samples.shop;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.ActiveProfiles;

import static org.assertj.core.api.Assertions.assertThat;

/** The same shop, with its records in its own database. */
@ActiveProfiles("jdbc")
class ShopOnJdbcTests extends ShopIdempotencyTests {

	@Test
	void recordsAreInTheDatabase(@Autowired IdempotencyStore store) {
		assertThat(store).isInstanceOf(JdbcIdempotencyStore.class);
	}

}
