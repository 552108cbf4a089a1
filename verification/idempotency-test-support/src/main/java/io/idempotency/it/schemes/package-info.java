/**
 * Every scheme of the library end to end, by both doors, on every stack and store.
 */
@NullMarked
package io.idempotency.it.schemes;

import org.jspecify.annotations.NullMarked;
