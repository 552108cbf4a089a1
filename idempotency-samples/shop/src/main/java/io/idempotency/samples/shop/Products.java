package io.idempotency.samples.shop;

import java.util.List;
import java.util.Optional;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The catalogue and its stock.
 */
@Repository
class Products {

	private final JdbcClient jdbc;

	Products(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	List<Product> all() {
		return this.jdbc.sql("select sku, name, price, stock from product order by sku").query(Product.class).list();
	}

	Optional<Product> find(String sku) {
		return this.jdbc.sql("select sku, name, price, stock from product where sku = :sku")
			.param("sku", sku)
			.query(Product.class)
			.optional();
	}

	/**
	 * Takes pieces out of the stock if there are that many, in one statement: of any
	 * number of buyers none takes what another has already taken.
	 */
	boolean take(String sku, int quantity) {
		return this.jdbc.sql("update product set stock = stock - :quantity where sku = :sku and stock >= :quantity")
			.param("sku", sku)
			.param("quantity", quantity)
			.update() == 1;
	}

}
