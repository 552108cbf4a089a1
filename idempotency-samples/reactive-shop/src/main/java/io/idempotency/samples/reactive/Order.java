package io.idempotency.samples.reactive;

import java.math.BigDecimal;
import java.time.OffsetDateTime;

/**
 * What a customer ordered, and what became of it.
 */
record Order(long id, String orderNo, String customer, String sku, int quantity, BigDecimal amount, BigDecimal paid,
		BigDecimal refunded, String status, OffsetDateTime createdAt) {
}
