/**
 * The engine under a scheduler that decides every step, with faults at random.
 */
@NullMarked
package io.idempotency.proofs.simulation;

import org.jspecify.annotations.NullMarked;
