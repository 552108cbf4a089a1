/**
 * The caller's side: clients that send a key with each call, keep the key over all
 * attempts of the call, and repeat a call whose answer was lost.
 */
@NullMarked
package io.idempotency.client;

import org.jspecify.annotations.NullMarked;
