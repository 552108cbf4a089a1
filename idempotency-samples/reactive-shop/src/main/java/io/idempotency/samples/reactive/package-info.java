/**
 * The sample shop on WebFlux: no thread waits for a database, a duplicate or a customer.
 */
@NullMarked
package io.idempotency.samples.reactive;

import org.jspecify.annotations.NullMarked;
