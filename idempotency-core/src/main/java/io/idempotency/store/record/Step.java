package io.idempotency.store.record;

/**
 * One transition: what a verb makes of a record, and what it tells the caller.
 *
 * @param next the record that follows; the same instance when nothing changes
 * @param answer what the caller gets
 */
public record Step<T>(StoredRecord next, T answer) {
}
