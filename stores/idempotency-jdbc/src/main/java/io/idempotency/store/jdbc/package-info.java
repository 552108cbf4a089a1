/**
 * The store for services with a database:
 * {@link io.idempotency.store.jdbc.JdbcIdempotencyStore}. Needs Spring JDBC.
 */
@NullMarked
package io.idempotency.store.jdbc;

import org.jspecify.annotations.NullMarked;
