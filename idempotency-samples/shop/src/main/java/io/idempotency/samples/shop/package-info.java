/**
 * A small shop whose orders, payments and refunds may arrive twice and happen once.
 */
@NullMarked
package io.idempotency.samples.shop;

import org.jspecify.annotations.NullMarked;
