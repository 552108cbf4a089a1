/**
 * What goes on beside the calls: renewals, repeated writes, waiting duplicates, outages,
 * and the threads for them. One set for each store, so that a store that hangs holds up
 * nothing of another one.
 */
@NullMarked
package io.idempotency.upkeep;

import org.jspecify.annotations.NullMarked;
