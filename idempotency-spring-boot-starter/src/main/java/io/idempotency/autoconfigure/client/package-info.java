/**
 * Declares what an application adds to the clients with which it calls other services.
 */
@NullMarked
package io.idempotency.autoconfigure.client;

import org.jspecify.annotations.NullMarked;
