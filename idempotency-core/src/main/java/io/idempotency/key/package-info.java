/**
 * The values that name one intent and tell two requests apart: key, caller, fingerprint.
 */
@NullMarked
package io.idempotency.key;

import org.jspecify.annotations.NullMarked;
