/**
 * The protocol: claim, run, complete or release. Knows no Spring and no servlet; the
 * doors only translate, the engine decides. Start reading at
 * {@link io.idempotency.engine.IdempotencyEngine}.
 */
@NullMarked
package io.idempotency.engine;

import org.jspecify.annotations.NullMarked;
