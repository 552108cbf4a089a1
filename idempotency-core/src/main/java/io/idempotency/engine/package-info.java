/**
 * Executes the decisions of the protocol, for callers that block or return futures. This
 * package depends neither on Spring nor on servlets, and the adapters only translate.
 * Start reading at {@link io.idempotency.engine.IdempotencyEngine}.
 */
@NullMarked
package io.idempotency.engine;

import org.jspecify.annotations.NullMarked;
