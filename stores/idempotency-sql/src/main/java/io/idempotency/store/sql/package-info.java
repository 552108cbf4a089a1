/**
 * The statements of the stores on the table, what differs from database to database, and
 * what a verb does: which statement it sends, and what its outcome means. Knows no
 * driver: JDBC and R2DBC carry the statements out, and decide on which connection and in
 * which transaction.
 */
@NullMarked
package io.idempotency.store.sql;

import org.jspecify.annotations.NullMarked;
