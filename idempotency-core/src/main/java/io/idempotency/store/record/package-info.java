/**
 * The state table of {@link io.idempotency.store.IdempotencyStore} in Java, once, for the
 * stores of this library that decide in Java: a
 * {@link io.idempotency.store.record.StoredRecord}, and the
 * {@link io.idempotency.store.record.Step} that a verb takes at a
 * {@link io.idempotency.store.record.Moment}. No part of the API.
 */
@NullMarked
package io.idempotency.store.record;

import org.jspecify.annotations.NullMarked;
