/**
 * Chooses the store of an application and declares it, with its connections, its table
 * and the namespace of its keys. It knows the properties, and no other room.
 */
@NullMarked
package io.idempotency.autoconfigure.store;

import org.jspecify.annotations.NullMarked;
