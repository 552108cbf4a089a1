/**
 * The auto-configuration: it creates the engine, a store and the adapters from
 * {@code idempotency.*} and the beans of an application. This package has what an
 * application may name, and what all the packages below it need: they depend on it, and
 * it depends on none of them.
 */
@NullMarked
package io.idempotency.autoconfigure;

import org.jspecify.annotations.NullMarked;
