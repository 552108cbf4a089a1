/**
 * Every way to keep duplicates away on one surface, to be compared: the schemes of the
 * library, and recipes that need nothing but a database table.
 */
@NullMarked
package io.idempotency.samples.shop.recipes;

import org.jspecify.annotations.NullMarked;
