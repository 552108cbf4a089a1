package io.idempotency.samples.reactive;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.test.context.ActiveProfiles;

import static org.assertj.core.api.Assertions.assertThat;

/** The same shop with its records in its database: its clients see no difference. */
@ActiveProfiles("r2dbc")
class ReactiveShopOnR2dbcTests extends ReactiveShopTests {

	@Test
	void recordsAreBesideTheOrders(@Autowired DatabaseClient database) {
		assertThat(order().status()).isEqualTo(201);
		assertThat(database.sql("select count(*) from idempotency_record where state = 'D'")
			.mapValue(Long.class)
			.one()
			.block(Duration.ofSeconds(30))).isPositive();
	}

}
