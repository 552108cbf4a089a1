/**
 * Declares the door of HTTP requests. Without Spring MVC no class of this package is
 * loaded.
 */
@NullMarked
package io.idempotency.autoconfigure.web;

import org.jspecify.annotations.NullMarked;
