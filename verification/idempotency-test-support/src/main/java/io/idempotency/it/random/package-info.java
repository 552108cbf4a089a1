/**
 * Chance in tests, which can be repeated.
 */
@NullMarked
package io.idempotency.it.random;

import org.jspecify.annotations.NullMarked;
