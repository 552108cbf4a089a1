/**
 * Real servers for tests: started from binaries in Maven jars, with their pid in hand,
 * and never left behind.
 */
@NullMarked
package io.idempotency.it.servers;

import org.jspecify.annotations.NullMarked;
