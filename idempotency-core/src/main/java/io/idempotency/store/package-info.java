/**
 * The protocol between the engine and a store.
 * {@link io.idempotency.store.IdempotencyStore} has the state table and is all that the
 * author of a store needs.
 */
@NullMarked
package io.idempotency.store;

import org.jspecify.annotations.NullMarked;
