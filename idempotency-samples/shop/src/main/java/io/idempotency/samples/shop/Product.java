package io.idempotency.samples.shop;

import java.math.BigDecimal;

/**
 * Something the shop sells.
 */
public record Product(String sku, String name, BigDecimal price, int stock) {
}
