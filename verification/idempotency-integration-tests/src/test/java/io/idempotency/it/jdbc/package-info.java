/**
 * The JDBC store on real databases.
 */
@NullMarked
package io.idempotency.it.jdbc;

import org.jspecify.annotations.NullMarked;
