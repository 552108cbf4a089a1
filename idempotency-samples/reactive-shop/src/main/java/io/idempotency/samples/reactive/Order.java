package io.idempotency.samples.reactive;

import java.math.BigDecimal;
import java.time.OffsetDateTime;

/**
 * An order of a customer and its state.
 */
record Order(long id, String orderNo, String customer, String sku, int quantity, BigDecimal amount, BigDecimal paid,
		BigDecimal refunded, String status, OffsetDateTime createdAt) {
}
