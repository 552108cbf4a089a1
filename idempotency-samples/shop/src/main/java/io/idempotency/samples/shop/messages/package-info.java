/**
 * Notifies the warehouse of each order over a broker, which may deliver a message more
 * than once. Requires the profile {@code kafka} or {@code rabbit}; otherwise the list of
 * messages is empty.
 */
@NullMarked
package io.idempotency.samples.shop.messages;

import org.jspecify.annotations.NullMarked;
