/**
 * A client that sees what comes over the wire, byte for byte.
 */
@NullMarked
package io.idempotency.it.client;

import org.jspecify.annotations.NullMarked;
