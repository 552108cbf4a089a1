/**
 * Servers that no Maven artifact carries, where Docker is.
 */
@NullMarked
package io.idempotency.it.containers;

import org.jspecify.annotations.NullMarked;
