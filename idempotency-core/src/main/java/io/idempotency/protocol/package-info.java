/**
 * What the protocol decides, and the values that it decides about. Nothing here starts a
 * thread, asks a store or reads a clock.
 */
@NullMarked
package io.idempotency.protocol;

import org.jspecify.annotations.NullMarked;
