/**
 * Listeners of Kafka: their deliveries, and the error handling of their containers.
 */
@NullMarked
package io.idempotency.message.kafka;

import org.jspecify.annotations.NullMarked;
