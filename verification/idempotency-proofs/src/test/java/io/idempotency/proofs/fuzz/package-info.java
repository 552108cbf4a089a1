/**
 * Many thousand requests that no client would send on purpose, against a running
 * application.
 */
@NullMarked
package io.idempotency.proofs.fuzz;

import org.jspecify.annotations.NullMarked;
