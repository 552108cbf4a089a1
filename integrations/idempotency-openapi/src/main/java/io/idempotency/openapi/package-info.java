/**
 * Describes guarded operations in springdoc's OpenAPI document. Without springdoc no
 * class of this package is loaded.
 */
@NullMarked
package io.idempotency.openapi;

import org.jspecify.annotations.NullMarked;
