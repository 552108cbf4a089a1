/**
 * From the annotation of a method to its operation: attributes, expressions and results
 * are parsed and checked once, when the application starts, and each contradiction is an
 * error that names the method and the cure.
 */
@NullMarked
package io.idempotency.interceptor;

import org.jspecify.annotations.NullMarked;
