/**
 * Every scheme of the library end to end, on WebFlux.
 */
@NullMarked
package io.idempotency.it.schemes;

import org.jspecify.annotations.NullMarked;
