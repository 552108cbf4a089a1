/**
 * The store that keeps its records in this JVM: a bounded map of
 * {@link io.idempotency.store.StoredRecord}s.
 */
@NullMarked
package io.idempotency.store.memory;

import org.jspecify.annotations.NullMarked;
