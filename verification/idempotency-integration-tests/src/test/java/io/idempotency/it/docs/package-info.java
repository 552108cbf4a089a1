/**
 * The documentation says what the code does: its links, settings, names, defaults and
 * examples.
 */
@NullMarked
package io.idempotency.it.docs;

import org.jspecify.annotations.NullMarked;
