package io.idempotency.samples.shop.recipes;

import javax.sql.DataSource;

import io.idempotency.it.client.Answer;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.samples.shop.ShopClient;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same with the profile for PostgreSQL, on a real one, whose locks and aborted
 * transactions differ from H2's. Orders and records share the database.
 */
@Nightly
@StoreAlone
@Requires(Backend.POSTGRESQL)
@ActiveProfiles("postgresql")
@DirtiesContext
class PostgreSqlRecipesTests extends RecipesTests {

	@DynamicPropertySource
	static void startServer(DynamicPropertyRegistry registry) {
		SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		registry.add("spring.datasource.url", database::url);
		registry.add("spring.datasource.username", database::user);
	}

	@Test
	void recordsAreBesideTheOrders(@Autowired IdempotencyStore store) {
		assertThat(store).isInstanceOf(JdbcIdempotencyStore.class);
		String key = ShopClient.newKey();
		Answer first = this.shop.order(key, "sku-1", 1);
		assertThat(first.status()).isEqualTo(201);
		assertThat(this.shop.order(key, "sku-1", 1).text()).isEqualTo(first.text());
		assertThat(
				this.jdbc.sql("select count(*) from idempotency_record where state = 'D'").query(Long.class).single())
			.isPositive();
	}

	@Test
	void shopMayStartAgainOnItsTables(@Autowired DataSource dataSource) throws Exception {
		int orders = this.shop.orderCount();
		this.shop.order(ShopClient.newKey(), "sku-1", 1);
		new ResourceDatabasePopulator(new ClassPathResource("schema.sql"), new ClassPathResource("data.sql"))
			.execute(dataSource);
		assertThat(this.shop.orderCount()).isEqualTo(orders + 1);
		assertThat(ShopClient.<Integer>read(this.shop.get("/api/products"), "$.length()")).isPositive();
	}

}
