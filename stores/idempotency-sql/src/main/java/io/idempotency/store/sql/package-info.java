/**
 * The statements of the SQL stores, the differences between databases, and the steps of
 * each operation: the statements that it sends, and the meaning of their outcomes. This
 * package does not depend on a driver: JDBC and R2DBC execute the statements, and decide
 * on which connection and in which transaction.
 */
@NullMarked
package io.idempotency.store.sql;

import org.jspecify.annotations.NullMarked;
