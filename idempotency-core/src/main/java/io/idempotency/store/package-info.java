/**
 * The protocol between the engine and a store. Store implementations implement
 * {@link io.idempotency.store.IdempotencyStore}, which documents the state table.
 */
@NullMarked
package io.idempotency.store;

import org.jspecify.annotations.NullMarked;
