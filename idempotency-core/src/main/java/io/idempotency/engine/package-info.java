/**
 * Carries out what the protocol decides, for callers that block or return futures. This
 * package knows neither Spring nor servlets, and the doors only translate. Start reading
 * at {@link io.idempotency.engine.IdempotencyEngine}.
 */
@NullMarked
package io.idempotency.engine;

import org.jspecify.annotations.NullMarked;
