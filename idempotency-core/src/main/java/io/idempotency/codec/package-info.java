/**
 * Results of methods as JSON, and back: with Jackson 2 or Jackson 3, in the same format;
 * and the encryption of what is stored, by the JDK.
 */
@NullMarked
package io.idempotency.codec;

import org.jspecify.annotations.NullMarked;
