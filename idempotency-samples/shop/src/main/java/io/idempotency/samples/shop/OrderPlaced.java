package io.idempotency.samples.shop;

/**
 * Event for a new order. Its listeners run in the transaction that writes the order.
 */
public record OrderPlaced(String orderNo) {
}
