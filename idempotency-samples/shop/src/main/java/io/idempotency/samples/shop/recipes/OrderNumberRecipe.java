package io.idempotency.samples.shop.recipes;

import io.idempotency.samples.shop.NewOrder;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;
import io.idempotency.samples.shop.ShopException;
import io.idempotency.samples.shop.numbers.OrderNumbers;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.stereotype.Component;

/**
 * The order has its number before it is placed: the page requests one when it opens and
 * sends it as {@code requestId}. Three checks detect duplicates. A fast set recognizes
 * used numbers immediately (here in memory, with several nodes a set in Redis). The set
 * may lose numbers, so the order itself is looked up. Finally, the unique index on
 * {@code order_no} rejects duplicates. Numbers can be guessed, so a number is only
 * accepted from the customer for whom it was created.
 */
@Component
class OrderNumberRecipe implements Recipe {

	static final String NUMBERS = "/api/recipes/order-number/numbers";

	private static final String ID = "order-number";

	private final HandedOutNumbers handedOut = new HandedOutNumbers();

	private final OrderNumbers numbers;

	private final Orders orders;

	OrderNumberRecipe(OrderNumbers numbers, Orders orders) {
		this.numbers = numbers;
		this.orders = orders;
	}

	@Override
	public Scheme scheme() {
		return Scheme
			.inDatabase(ID, "Pre-allocated order number", "one order for each issued number",
					"200 and the existing order; 422 for an unknown number")
			.withTicket(NUMBERS);
	}

	/**
	 * Makes the number of an order that is to come.
	 */
	String newNumber(String customer) {
		String orderNo = this.numbers.next();
		this.handedOut.add(orderNo, customer);
		return orderNo;
	}

	@Override
	public Placed place(String customer, RecipeRequest request) {
		String orderNo = request.requestId();
		return switch (this.handedOut.use(orderNo, customer)) {
			case FIRST -> placeFirst(orderNo, customer, request);
			case USED -> Placed.before(find(customer, request, ShopException.stillRunning()));
			case UNKNOWN -> Placed.before(find(customer, request, ShopException.unknownOrderNumber()));
		};
	}

	private Placed placeFirst(String orderNo, String customer, RecipeRequest request) {
		boolean used = false;
		try {
			Order order = this.orders
				.place(new NewOrder(orderNo, customer, request.sku(), request.quantity(), ID, request.requestId()));
			used = true;
			return Placed.now(order);
		}
		catch (DuplicateKeyException ex) {
			used = true;
			return Placed.before(find(customer, request, ShopException.stillRunning()));
		}
		finally {
			if (!used) {
				this.handedOut.add(orderNo, customer);
			}
		}
	}

	private Order find(String customer, RecipeRequest request, ShopException absent) {
		Order order = this.orders.find(ID, customer, request.requestId()).orElseThrow(() -> absent);
		NamedOrders.checkSame(order, request);
		return order;
	}

}
