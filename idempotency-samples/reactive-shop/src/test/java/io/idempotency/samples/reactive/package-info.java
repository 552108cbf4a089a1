/**
 * The shop over HTTP, once for each place where its records may be.
 */
@NullMarked
package io.idempotency.samples.reactive;

import org.jspecify.annotations.NullMarked;
