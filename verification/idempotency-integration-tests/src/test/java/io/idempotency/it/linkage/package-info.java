/**
 * Whether the published jars, compiled against one Boot line, find every class, method
 * and field they refer to on the line the tests run on.
 */
@NullMarked
package io.idempotency.it.linkage;

import org.jspecify.annotations.NullMarked;
