/**
 * The auto-configuration: it creates the engine, a store and the doors from
 * {@code idempotency.*} and the beans of an application.
 */
@NullMarked
package io.idempotency.autoconfigure;

import org.jspecify.annotations.NullMarked;
