/**
 * Auto-configuration: from {@code idempotency.*} and the beans of an application to the
 * engine, a store and the doors.
 */
@NullMarked
package io.idempotency.autoconfigure;

import org.jspecify.annotations.NullMarked;
