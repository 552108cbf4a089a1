/**
 * The driver of the protocol for callers that must not block, and the form of stores that
 * it asks.
 */
@NullMarked
package io.idempotency.reactor;

import org.jspecify.annotations.NullMarked;
