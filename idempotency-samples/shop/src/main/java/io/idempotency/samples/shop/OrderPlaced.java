package io.idempotency.samples.shop;

/**
 * There is a new order. Whoever listens is part of the transaction that writes it.
 */
public record OrderPlaced(String orderNo) {
}
