/**
 * The door of message listeners: it reads the key from the message, and tells the broker
 * whether to drop, repeat or put aside a message. Each broker has its own classes, which
 * are loaded only where the broker's library is.
 */
@NullMarked
package io.idempotency.message;

import org.jspecify.annotations.NullMarked;
