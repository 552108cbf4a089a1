package io.idempotency.it.http;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

@OnPostgreSql
class KeptAnswersOnPostgreSqlTests extends KeptAnswersOnTomcatTests {

	@Test
	void recordsAreInTheDatabase(@Autowired IdempotencyStore store) {
		assertThat(store).isInstanceOf(JdbcIdempotencyStore.class);
	}

}
