package io.idempotency.samples.shop;

import java.math.BigDecimal;

/**
 * A refund to the customer.
 */
record Refund(long id, long orderId, String reference, BigDecimal amount, String status) {
}
