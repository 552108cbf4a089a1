/**
 * The adapter for WebFlux handlers. A call is claimed when the result of the handler is
 * subscribed, and decided by its response.
 */
@NullMarked
package io.idempotency.webflux;

import org.jspecify.annotations.NullMarked;
