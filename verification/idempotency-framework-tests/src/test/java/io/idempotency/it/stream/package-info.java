/**
 * Functions of Spring Cloud Stream, bound to Kafka.
 */
@NullMarked
package io.idempotency.it.stream;

import org.jspecify.annotations.NullMarked;
