/** The programmatic door: {@link io.idempotency.IdempotencyTemplate} on the engine. */
@NullMarked
package io.idempotency.template;

import org.jspecify.annotations.NullMarked;
