/**
 * Says what is wrong with an application that does not start, and the cure.
 */
@NullMarked
package io.idempotency.autoconfigure.diagnostics;

import org.jspecify.annotations.NullMarked;
