/**
 * The HTTP door: filter, interceptor, capture, replay and problem details for controller
 * methods, on any servlet container.
 */
@NullMarked
package io.idempotency.web;

import org.jspecify.annotations.NullMarked;
