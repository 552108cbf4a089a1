package io.idempotency.samples.reactive;

import java.math.BigDecimal;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Takes items from the stock, places orders and books payments. This class does not
 * handle keys or retries.
 */
@Service
class Orders {

	private static final String SELECT = """
			select id, order_no, customer, sku, quantity, amount, paid, refunded, status, created_at
			from customer_order
			""";

	private static final String PAYMENTS = "select id, order_id, amount, status from payment ";

	private final DatabaseClient database;

	Orders(DatabaseClient database) {
		this.database = database;
	}

	Flux<Product> products() {
		return this.database.sql("select sku, name, price, stock from product order by sku")
			.mapProperties(Product.class)
			.all();
	}

	Flux<Order> all() {
		return this.database.sql(SELECT + "order by id desc").mapProperties(Order.class).all();
	}

	Mono<Order> get(long id) {
		return this.database.sql(SELECT + "where id = :id")
			.bind("id", id)
			.mapProperties(Order.class)
			.one()
			.switchIfEmpty(Mono.error(() -> ShopException.unknownOrder(id)));
	}

	/**
	 * Takes the items from the stock and writes the order, both or neither.
	 */
	@Transactional
	Mono<Order> place(String customer, String sku, int quantity) {
		return this.database.sql("select sku, name, price, stock from product where sku = :sku")
			.bind("sku", sku)
			.mapProperties(Product.class)
			.one()
			.switchIfEmpty(Mono.error(() -> ShopException.unknownProduct(sku)))
			.flatMap((product) -> take(product, quantity).then(Mono.defer(() -> insert(customer, product, quantity))));
	}

	/**
	 * Takes items in one statement if the stock suffices, so concurrent buyers never take
	 * the same item.
	 */
	private Mono<Void> take(Product product, int quantity) {
		return this.database.sql("update product set stock = stock - :quantity where sku = :sku and stock >= :quantity")
			.bind("quantity", quantity)
			.bind("sku", product.sku())
			.fetch()
			.rowsUpdated()
			.filter((taken) -> taken == 1)
			.switchIfEmpty(Mono.error(() -> ShopException.outOfStock(product, quantity)))
			.then();
	}

	private Mono<Order> insert(String customer, Product product, int quantity) {
		return this.database.sql("""
				insert into customer_order (order_no, customer, sku, quantity, amount, status, created_at)
				values (:orderNo, :customer, :sku, :quantity, :amount, 'PLACED', :createdAt)
				""")
			.filter((statement) -> statement.returnGeneratedValues("id"))
			.bind("orderNo", UUID.randomUUID().toString().substring(16).replace("-", ""))
			.bind("customer", customer)
			.bind("sku", product.sku())
			.bind("quantity", quantity)
			.bind("amount", product.price().multiply(BigDecimal.valueOf(quantity)))
			.bind("createdAt", OffsetDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MILLIS))
			.mapValue(Long.class)
			.one()
			.flatMap(this::get);
	}

	Flux<Payment> payments(long id) {
		return get(id).flatMapMany((order) -> this.database.sql(PAYMENTS + "where order_id = :id order by id")
			.bind("id", id)
			.mapProperties(Payment.class)
			.all());
	}

	/**
	 * Books a payment if no more than the open amount is paid.
	 */
	@Transactional
	Mono<Payment> pay(long id, BigDecimal amount) {
		return book(id, amount, """
				update customer_order
				set paid = paid + :amount, status = case when paid + :amount = amount then 'PAID' else status end
				where id = :id and paid + :amount <= amount
				""").switchIfEmpty(tooHigh(get(id).map((order) -> order.amount().subtract(order.paid()))))
			.then(this.database.sql("insert into payment (order_id, amount, status) values (:id, :amount, 'CAPTURED')")
				.filter((statement) -> statement.returnGeneratedValues("id"))
				.bind("id", id)
				.bind("amount", amount)
				.mapValue(Long.class)
				.one())
			.flatMap((payment) -> this.database.sql(PAYMENTS + "where id = :id")
				.bind("id", payment)
				.mapProperties(Payment.class)
				.one());
	}

	/**
	 * Books a refund of at most the amount that was paid.
	 */
	Mono<Void> bookRefund(long id, BigDecimal amount) {
		return book(id, amount, """
				update customer_order
				set refunded = refunded + :amount,
					status = case when refunded + :amount = amount then 'REFUNDED' else status end
				where id = :id and refunded + :amount <= paid
				""").switchIfEmpty(tooHigh(get(id).map((order) -> order.paid().subtract(order.refunded())))).then();
	}

	private Mono<Long> book(long id, BigDecimal amount, String statement) {
		return this.database.sql(statement)
			.bind("id", id)
			.bind("amount", amount)
			.fetch()
			.rowsUpdated()
			.filter((booked) -> booked == 1);
	}

	private static Mono<Long> tooHigh(Mono<BigDecimal> most) {
		return most.flatMap((amount) -> Mono.error(ShopException.amountTooHigh(amount)));
	}

	/**
	 * Money that came in for an order.
	 */
	record Payment(long id, long orderId, BigDecimal amount, String status) {
	}

}
