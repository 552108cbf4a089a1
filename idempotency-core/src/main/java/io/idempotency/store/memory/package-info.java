/**
 * The in-memory store: a bounded map of {@link io.idempotency.store.StoredRecord}s.
 */
@NullMarked
package io.idempotency.store.memory;

import org.jspecify.annotations.NullMarked;
