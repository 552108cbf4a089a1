/**
 * Applications in JVMs of their own that are told to end while they work.
 */
@NullMarked
package io.idempotency.it.shutdown;

import org.jspecify.annotations.NullMarked;
