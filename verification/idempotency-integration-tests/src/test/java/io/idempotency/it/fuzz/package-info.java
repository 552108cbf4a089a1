/**
 * Many thousand requests that no client would send on purpose, against a running
 * application.
 */
@NullMarked
package io.idempotency.it.fuzz;

import org.jspecify.annotations.NullMarked;
