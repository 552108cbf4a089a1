/**
 * Declares the engine and what calls it: the template, tokens, the admin and the guard of
 * annotated beans, or their stand-ins while the library is switched off.
 */
@NullMarked
package io.idempotency.autoconfigure.engine;

import org.jspecify.annotations.NullMarked;
