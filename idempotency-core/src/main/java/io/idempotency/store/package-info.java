/**
 * The protocol between the engine and a store.
 * {@link io.idempotency.store.IdempotencyStore} has the state table and is all one needs
 * to write a store.
 */
@NullMarked
package io.idempotency.store;

import org.jspecify.annotations.NullMarked;
