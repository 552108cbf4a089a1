/**
 * Verbs at once, in interleavings that a tool chooses.
 */
@NullMarked
package io.idempotency.proofs.linearization;

import org.jspecify.annotations.NullMarked;
