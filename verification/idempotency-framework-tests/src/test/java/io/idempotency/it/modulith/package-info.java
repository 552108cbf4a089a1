/**
 * Listeners of Spring Modulith, whose registry publishes an event again.
 */
@NullMarked
package io.idempotency.it.modulith;

import org.jspecify.annotations.NullMarked;
