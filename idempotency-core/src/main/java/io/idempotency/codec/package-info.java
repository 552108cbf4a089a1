/**
 * Encrypts stored results with what the JDK has.
 */
@NullMarked
package io.idempotency.codec;

import org.jspecify.annotations.NullMarked;
