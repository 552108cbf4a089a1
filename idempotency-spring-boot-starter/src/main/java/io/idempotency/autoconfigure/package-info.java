/**
 * The auto-configuration: it creates the engine, a store and the adapters from
 * {@code idempotency.*} and the beans of an application. This package contains the types
 * that an application may use and the types that its subpackages share. The subpackages
 * depend on this package, and it does not depend on them.
 */
@NullMarked
package io.idempotency.autoconfigure;

import org.jspecify.annotations.NullMarked;
