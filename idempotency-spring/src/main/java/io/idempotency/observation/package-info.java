/**
 * Micrometer metrics of guarded calls: one observation for each call, timers of the
 * stores, and gauges of the engine. If Micrometer is not on the class path, no class of
 * this package is loaded.
 */
@NullMarked
package io.idempotency.observation;

import org.jspecify.annotations.NullMarked;
