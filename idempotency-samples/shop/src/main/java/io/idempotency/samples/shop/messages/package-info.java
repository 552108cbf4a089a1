/**
 * Tells the warehouse of each order over a broker, which may deliver a message more than
 * once. Profiles {@code kafka} and {@code rabbit}; without them nothing of this is there
 * but an empty list.
 */
@NullMarked
package io.idempotency.samples.shop.messages;

import org.jspecify.annotations.NullMarked;
