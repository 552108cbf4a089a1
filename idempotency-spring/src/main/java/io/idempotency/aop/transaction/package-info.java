/**
 * The transactions of the application: which one a record commits with, which one the
 * work of a call is a part of, and how it ended.
 */
@NullMarked
package io.idempotency.aop.transaction;

import org.jspecify.annotations.NullMarked;
