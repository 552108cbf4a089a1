/**
 * The statements of the store on the table, and what differs from database to database:
 * what a verb does on a connection that it is given. Which connection that is, and in
 * which transaction, is decided outside. Needs nothing but JDBC.
 */
@NullMarked
package io.idempotency.store.jdbc.sql;

import org.jspecify.annotations.NullMarked;
