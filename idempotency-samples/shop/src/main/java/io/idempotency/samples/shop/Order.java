package io.idempotency.samples.shop;

import java.math.BigDecimal;
import java.time.Instant;

/**
 * What a customer ordered, and what became of it.
 */
record Order(long id, String orderNo, String customer, String sku, int quantity, BigDecimal amount, BigDecimal paid,
		BigDecimal refunded, Status status, Instant createdAt) {

	enum Status {

		PLACED, PAID, REFUNDED

	}

}
