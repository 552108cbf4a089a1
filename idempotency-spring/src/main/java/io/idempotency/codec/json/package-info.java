/**
 * Turns results of methods into JSON and back, with Jackson 2 or Jackson 3 in the same
 * format.
 */
@NullMarked
package io.idempotency.codec.json;

import org.jspecify.annotations.NullMarked;
