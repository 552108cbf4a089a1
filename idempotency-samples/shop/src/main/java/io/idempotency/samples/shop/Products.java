package io.idempotency.samples.shop;

import java.util.List;
import java.util.Optional;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The catalogue and its stock.
 */
@Repository
public class Products {

	private static final String SELECT = "select sku, name, price, stock from product where sku = :sku";

	private final JdbcClient jdbc;

	Products(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	List<Product> all() {
		return this.jdbc.sql("select sku, name, price, stock from product order by sku").query(Product.class).list();
	}

	Optional<Product> find(String sku) {
		return this.jdbc.sql(SELECT).param("sku", sku).query(Product.class).optional();
	}

	/**
	 * Takes items in one statement if the stock suffices, so concurrent buyers never take
	 * the same item.
	 */
	boolean take(String sku, int quantity) {
		return this.jdbc.sql("update product set stock = stock - :quantity where sku = :sku and stock >= :quantity")
			.param("sku", sku)
			.param("quantity", quantity)
			.update() == 1;
	}

	/**
	 * Reads a product and locks it against changes by others until the transaction ends.
	 */
	public Product lock(String sku) {
		return this.jdbc.sql(SELECT + " for update")
			.param("sku", sku)
			.query(Product.class)
			.optional()
			.orElseThrow(() -> ShopException.unknownProduct(sku));
	}

	/**
	 * Writes a stock that was computed from the result of {@link #lock}.
	 */
	public void setStock(Product locked, int stock) {
		this.jdbc.sql("update product set stock = :stock where sku = :sku")
			.param("stock", stock)
			.param("sku", locked.sku())
			.update();
	}

}
