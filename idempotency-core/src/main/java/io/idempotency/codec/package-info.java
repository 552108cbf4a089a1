/**
 * Encoding and encryption of stored results.
 */
@NullMarked
package io.idempotency.codec;

import org.jspecify.annotations.NullMarked;
