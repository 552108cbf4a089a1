/**
 * What applications put around their handlers, filters, interceptors, aspects and advice,
 * does on a replay what its author expects.
 */
@NullMarked
package io.idempotency.it.around;

import org.jspecify.annotations.NullMarked;
