/**
 * A line that breaks, and a clock that is wrong.
 */
@NullMarked
package io.idempotency.it.faults;

import org.jspecify.annotations.NullMarked;
