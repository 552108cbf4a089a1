package io.idempotency.samples.shop;

import java.math.BigDecimal;

/**
 * Money that came in for an order.
 */
record Payment(long id, long orderId, BigDecimal amount, String status) {
}
