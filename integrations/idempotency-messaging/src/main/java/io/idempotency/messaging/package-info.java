/**
 * Guards Kafka, RabbitMQ and JMS listeners: it reads the key from the message, and
 * acknowledges, returns or rejects a message whose listener does not run. The classes of
 * a broker are loaded for the first listener of that broker.
 */
@NullMarked
package io.idempotency.messaging;

import org.jspecify.annotations.NullMarked;
