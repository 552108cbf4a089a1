/**
 * Guarded calls of several JVMs against real servers that fail, written down as they
 * happen, and a checker that knows nothing but what was written.
 */
@NullMarked
package io.idempotency.proofs.history;

import org.jspecify.annotations.NullMarked;
