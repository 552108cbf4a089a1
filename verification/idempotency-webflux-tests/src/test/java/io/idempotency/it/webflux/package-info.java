/**
 * Requests of WebFlux on Netty.
 */
@NullMarked
package io.idempotency.it.webflux;

import org.jspecify.annotations.NullMarked;
