/**
 * All schemes against duplicates on one page, for comparison: the schemes of the library,
 * and recipes that need only a database table.
 */
@NullMarked
package io.idempotency.samples.shop.recipes;

import org.jspecify.annotations.NullMarked;
