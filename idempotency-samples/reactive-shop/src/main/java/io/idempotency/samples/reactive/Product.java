package io.idempotency.samples.reactive;

import java.math.BigDecimal;

/**
 * Something the shop sells.
 */
record Product(String sku, String name, BigDecimal price, int stock) {
}
