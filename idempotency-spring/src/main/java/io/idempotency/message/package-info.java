/**
 * The door of message listeners: it reads the key from the message, and tells the broker
 * whether to drop, repeat or put aside a message. Each broker has a package, whose
 * classes are loaded only where the broker's library is.
 */
@NullMarked
package io.idempotency.message;

import org.jspecify.annotations.NullMarked;
