/**
 * The auto-configuration of guarded requests on Spring WebFlux.
 */
@NullMarked
package io.idempotency.autoconfigure.webflux;

import org.jspecify.annotations.NullMarked;
