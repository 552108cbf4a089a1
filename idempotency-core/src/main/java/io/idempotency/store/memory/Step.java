package io.idempotency.store.memory;

/**
 * One transition: what a verb makes of a record, and what it tells the caller.
 *
 * @param next the state that follows; the same instance when nothing changes
 * @param answer what the caller gets
 */
record Step<T>(RecordState next, T answer) {
}
