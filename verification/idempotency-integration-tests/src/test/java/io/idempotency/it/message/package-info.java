/**
 * Listeners of Kafka, RabbitMQ and JMS, on brokers inside this JVM.
 */
@NullMarked
package io.idempotency.it.message;

import org.jspecify.annotations.NullMarked;
