/**
 * Non-blocking store in one table of a database. It shares table, statements and records
 * with the JDBC store.
 */
@NullMarked
package io.idempotency.store.r2dbc;

import org.jspecify.annotations.NullMarked;
