/**
 * Turns results of methods into JSON and back, with Jackson 2 or Jackson 3 in the same
 * format, and encrypts stored results with the JDK.
 */
@NullMarked
package io.idempotency.codec;

import org.jspecify.annotations.NullMarked;
