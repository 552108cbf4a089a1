package io.idempotency.samples.shop;

import java.math.BigDecimal;

/**
 * Money that went back to the customer.
 */
record Refund(long id, long orderId, String reference, BigDecimal amount, String status) {
}
