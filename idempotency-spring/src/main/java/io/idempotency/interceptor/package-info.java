/**
 * Interceptors for {@code @Idempotent} methods. Attributes, expressions and results of an
 * annotation are parsed and checked once, when the application starts. Each contradiction
 * is an error whose message contains the method and the action.
 */
@NullMarked
package io.idempotency.interceptor;

import org.jspecify.annotations.NullMarked;
