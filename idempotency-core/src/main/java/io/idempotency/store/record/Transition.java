package io.idempotency.store.record;

/**
 * One transition of a record: the next record, and the answer to the caller.
 *
 * @param next the next record; the same instance if nothing changes
 * @param answer the answer to the caller
 */
public record Transition<T>(StoredRecord next, T answer) {
}
