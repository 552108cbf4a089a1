package io.idempotency.samples.shop;

import java.math.BigDecimal;
import java.time.Instant;

/**
 * An order of a customer and its state.
 */
public record Order(long id, String orderNo, String customer, String sku, int quantity, BigDecimal amount,
		BigDecimal paid, BigDecimal refunded, Status status, Instant createdAt) {

	/** How far an order has come. */
	public enum Status {

		PLACED, PAID, REFUNDED

	}

}
