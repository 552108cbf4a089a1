/**
 * Every scheme of the library end to end, by both adapters, on every store.
 */
@NullMarked
package io.idempotency.it.schemes;

import org.jspecify.annotations.NullMarked;
