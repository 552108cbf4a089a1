/**
 * The protocol: claim, run, complete or release. This package knows neither Spring nor
 * servlets. The doors only translate; the engine decides. Start reading at
 * {@link io.idempotency.engine.IdempotencyEngine}.
 */
@NullMarked
package io.idempotency.engine;

import org.jspecify.annotations.NullMarked;
