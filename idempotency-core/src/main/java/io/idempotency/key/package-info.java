/**
 * The values that identify an intended operation and distinguish requests: key, caller
 * and fingerprint.
 */
@NullMarked
package io.idempotency.key;

import org.jspecify.annotations.NullMarked;
