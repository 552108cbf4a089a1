/**
 * Clients that send a key with each call, keep the key over all attempts of the call, and
 * repeat a call whose response was lost.
 */
@NullMarked
package io.idempotency.client;

import org.jspecify.annotations.NullMarked;
