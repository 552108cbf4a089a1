/**
 * The adapter of handlers of WebFlux: what must not wait is claimed before the handler is
 * called, and decided where its advice has reached the guard.
 */
@NullMarked
package io.idempotency.webflux;

import org.jspecify.annotations.NullMarked;
