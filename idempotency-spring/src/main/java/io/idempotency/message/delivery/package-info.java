/**
 * One delivery of a message: what its listener says to the broker, and when the broker is
 * told. Knows no broker.
 */
@NullMarked
package io.idempotency.message.delivery;

import org.jspecify.annotations.NullMarked;
