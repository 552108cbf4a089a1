/** The engine for callers that must not block, and its store interface. */
@NullMarked
package io.idempotency.reactor;

import org.jspecify.annotations.NullMarked;
