/**
 * Numbers for orders: unique without asking, sorted by time, short enough to read out.
 */
@NullMarked
package io.idempotency.samples.shop.numbers;

import org.jspecify.annotations.NullMarked;
