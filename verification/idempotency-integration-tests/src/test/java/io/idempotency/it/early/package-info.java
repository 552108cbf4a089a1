/**
 * Duplicates that are answered before the arguments of their handler are bound.
 */
@NullMarked
package io.idempotency.it.early;

import org.jspecify.annotations.NullMarked;
