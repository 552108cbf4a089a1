/**
 * Listeners of RabbitMQ.
 */
@NullMarked
package io.idempotency.message.rabbit;

import org.jspecify.annotations.NullMarked;
