/**
 * What springdoc's OpenAPI document says about guarded operations. Nothing of this
 * package is loaded without springdoc.
 */
@NullMarked
package io.idempotency.autoconfigure.openapi;

import org.jspecify.annotations.NullMarked;
