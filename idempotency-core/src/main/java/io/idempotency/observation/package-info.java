/**
 * What a team sees of guarded calls, by Micrometer: one observation for each call, timers
 * of the stores, and numbers of the engine. Nothing of this package is loaded where
 * Micrometer is not on the class path.
 */
@NullMarked
package io.idempotency.observation;

import org.jspecify.annotations.NullMarked;
